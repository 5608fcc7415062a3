// `hyperatom split`: which labelled pixels are for training, which for testing.
#include "hyperatom/scene/split.hpp"

#include <fmt/format.h>

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/io/array_file.hpp"
#include "hyperatom/io/vector_labels.hpp"
#include "hyperatom/io/writing.hpp"

namespace hyperatom::cli {
namespace {

class SplitVerb final : public Verb {
 public:
  std::string name() const override { return "split"; }
  std::string summary() const override {
    return "Divides labelled pixels into training and test pixels.";
  }
  std::string example() const override {
    return "hyperatom split labels.tif --per-class 50 --blocks 16 --buffer 4 -o split.json";
  }

  void declare(Arguments& arguments) override {
    arguments.word("labels", labels_.path, "the labels: a raster, or vector data with --scene");
    labels_.declare_details(arguments);
    arguments.option(
        {.name = "scene", .value = &scene_, .help = "the scene that vector labels are burnt into"});
    rule_.declare(arguments);
    arguments.option({.name = "output", .value = &output_, .help = "the split file to make"}, 'o',
                     Arguments::Need::required);
    arguments.flag("overwrite", overwrite_, "replace what is there");
  }

  Result run(const Common& common, Console& console) override {
    expect_free(output_, overwrite_);
    expect_folder(output_);
    expect_apart({{"--output", output_}}, {labels_.path, scene_});
    const SplitRule rule = rule_.rule(common.seed);
    const Labels labels = read(console);
    const Split split = divide(labels, rule, labels_.path);
    for (const std::string& note : split.notes) console.warn(note);
    warn_of_small_classes(split, labels, console);
    save_split(split, output_);
    return report(split, labels);
  }

 private:
  Labels read(Console& console) const {
    if (!scene_.empty()) return labels_.read(open_scene(scene_)->info(), console).labels;
    if (!is_array_file(labels_.path) && is_vector_file(labels_.path))
      throw DataError(
          fmt::format("{}: is vector data, which needs --scene to be burnt into", labels_.path));
    return read_label_raster(labels_.path, labels_.variable).labels;
  }

  void warn_of_small_classes(const Split& split, const Labels& labels, Console& console) const {
    const std::vector<Index> train = labels.counts(split.train);
    for (size_t c = 0; c < train.size(); ++c)
      if (train[c] > 0 && train[c] < rule_.per_class)
        console.warn(fmt::format("class {} ({}) has only {} training pixel{}, not {}", c + 1,
                                 labels.names[c], train[c], train[c] == 1 ? "" : "s",
                                 rule_.per_class));
  }

  Result report(const Split& split, const Labels& labels) const {
    Json json = {{"split", output_},          {"rule", split.rule},
                 {"sha256", split.hash()},    {"train", split.train.size()},
                 {"test", split.test.size()}, {"notes", split.notes},
                 {"classes", Json::array()}};
    const std::vector<Index> train = labels.counts(split.train), test = labels.counts(split.test);
    size_t width = 5;
    for (const std::string& name : labels.names) width = std::max(width, name.size());
    std::string text = fmt::format("  {:<{}}  {:>8} {:>8}\n", "class", width, "train", "test");
    for (size_t c = 0; c < train.size(); ++c) {
      json["classes"].push_back(
          {{"id", c + 1}, {"name", labels.names[c]}, {"train", train[c]}, {"test", test[c]}});
      if (train[c] + test[c] > 0)
        text += fmt::format("  {:<{}}  {:>8} {:>8}\n", labels.names[c], width, grouped(train[c]),
                            grouped(test[c]));
    }
    text += fmt::format("{}: {} pixels for training, {} for testing ({})\n", output_,
                        grouped(static_cast<Index>(split.train.size())),
                        grouped(static_cast<Index>(split.test.size())), split.rule);
    return {json, text};
  }

  LabelInput labels_;
  std::string scene_, output_;
  SplitInput rule_;
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_split_verb() { return std::make_unique<SplitVerb>(); }

}  // namespace hyperatom::cli
