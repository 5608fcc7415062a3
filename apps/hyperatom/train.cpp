// `hyperatom train`: a scene and labels to a run folder with a model.
#include <algorithm>

#include "apps/hyperatom/training.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/automatic.hpp"

namespace hyperatom::cli {
namespace {

class Train final : public Verb {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "Learns a model from a scene and labels."; }
  std::string example() const override {
    return "hyperatom train scene.bsq --labels fields.gpkg --class-field crop --window 25 -o "
           "runs/crop";
  }

  void declare(Arguments& arguments) override {
    using Need = Arguments::Need;
    request_.scene.declare(arguments, Need::optional);  // --resume needs none
    request_.labels.declare(arguments, Need::optional);
    arguments.option(
        {.name = "split",
         .value = &request_.split,
         .help = "a split file: which labelled pixels are for training, which for testing"});
    arguments.option({.name = "test-labels",
                      .value = &request_.test_labels,
                      .help = "labels to test on; --labels are then all for training"});
    arguments.option({.name = "output", .value = &run_, .help = "the run folder to make"}, 'o');
    arguments.option({.name = "resume", .value = &resume_, .help = "the run folder to go on with"});
    arguments.flag("overwrite", overwrite_, "replace the run that is there");
    arguments.options(request_.settings(), request_.given);
    Fields options = request_.options.fields();
    std::erase_if(options, [](const Field& field) { return field.name == "seed"; });
    arguments.options(options, request_.given, automatic_settings());
  }

  Result run(const Common& common, Console& console) override {
    if (!resume_.empty()) {
      expect_alone(common);
      return resume(resume_, console);
    }
    if (request_.scene.path.empty()) throw OptionError("train needs a scene");
    if (request_.labels.path.empty()) throw OptionError("train needs --labels");
    if (run_.empty()) throw OptionError("train needs -o, the run folder to make");
    return train(request_, run_, overwrite_, common, console);
  }

 private:
  /// What was asked for when the run was begun can't be changed, so that it must not seem to be.
  void expect_alone(const Common& common) const {
    const SceneInput& scene = request_.scene;
    const LabelInput& labels = request_.labels;
    const std::string* texts[] = {&scene.path,     &scene.variable,       &scene.mask,
                                  &labels.path,    &labels.variable,      &labels.class_field,
                                  &request_.split, &request_.test_labels, &run_};
    const bool any = std::ranges::any_of(texts, [](auto* text) { return !text->empty(); });
    if (any || labels.all_touched || labels.crs != "file" || overwrite_ || common.seed != 0 ||
        !request_.given.empty())
      throw OptionError("--resume goes on with a run as it was begun: it takes no other option");
  }

  TrainRequest request_;
  std::string run_, resume_;
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_train() { return std::make_unique<Train>(); }

}  // namespace hyperatom::cli
