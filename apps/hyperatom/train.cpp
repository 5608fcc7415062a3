// `hyperatom train`: a scene and labels to a run folder with a model.
#include "apps/hyperatom/reporting.hpp"
#include "apps/hyperatom/training.hpp"
#include "hyperatom/base/error.hpp"

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
    request_.declare_data(arguments);
    arguments.option({.name = "output", .value = &run_, .help = "the run folder to make"}, 'o');
    arguments.option({.name = "resume", .value = &resume_, .help = "the run folder to go on with"});
    arguments.flag("overwrite", overwrite_, "replace the run that is there");
    arguments.flag("report", report_, "also make report.html, a page to look at");
    request_.declare_options(arguments);
  }

  Result run(const Common& common, Console& console) override {
    if (report_) expect_viewer();
    Result result = learn(common, console);
    if (!report_) return result;
    append_page(result, report({.scene = request_.scene, .model = run_, .overwrite = true}, common,
                               console));
    return result;
  }

 private:
  Result learn(const Common& common, Console& console) const {
    if (!resume_.empty()) {
      expect_alone(common);
      return resume(resume_, console);
    }
    request_.expect_data("train");
    if (run_.empty()) throw OptionError("train needs -o, the run folder to make");
    return train(request_, run_, overwrite_, common, console);
  }

  /// What was asked for when the run was begun can't be changed, so that it must not seem to be.
  void expect_alone(const Common& common) const {
    if (request_.anything() || !run_.empty() || overwrite_ || report_ || common.seed != 0)
      throw OptionError("--resume goes on with a run as it was begun: it takes no other option");
  }

  TrainRequest request_;
  std::string run_, resume_;
  bool overwrite_ = false, report_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_train() { return std::make_unique<Train>(); }

}  // namespace hyperatom::cli
