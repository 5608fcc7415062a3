// `hyperatom evaluate`: a map against labels.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/hyperatom/accuracy.hpp"
#include "apps/hyperatom/inputs.hpp"
#include "apps/hyperatom/reporting.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "hyperatom/io/array_file.hpp"
#include "hyperatom/io/writing.hpp"
#include "hyperatom/report/accuracy_report.hpp"

namespace hyperatom::cli {
namespace {

/// What labels must fit: the map's grid.
SceneInfo grid_of(const std::string& path, const Labels& map) {
  if (!is_array_file(path)) return open_scene(path)->info();
  return {.path = path, .format = "array", .rows = map.rows, .cols = map.cols};
}

std::set<std::int32_t> numbers(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::int32_t> found;
  for (std::int32_t id = 0; stream >> id;) found.insert(id);
  return found;
}

class Evaluate final : public Verb {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override { return "Tells how well a map agrees with labels."; }
  std::string example() const override {
    return "hyperatom evaluate map.tif --labels fields.gpkg --class-field crop --split "
           "runs/crop/split.json";
  }

  void declare(Arguments& arguments) override {
    arguments.word("map", map_, "the map: a raster of class numbers");
    labels_.declare(arguments, Arguments::Need::required);
    arguments.option({.name = "split",
                      .value = &split_,
                      .help = "a split file: only its test pixels count, and leakage is measured"});
    arguments.option({.name = "window",
                      .value = &window_,
                      .help = "pixels in a window, for the leakage; 0: what the map says",
                      .symbol = "S",
                      .lowest = 0,
                      .highest = 10000});
    arguments.option({.name = "output",
                      .value = &folder_,
                      .help = "a folder for metrics.json, confusion.csv and per_class.csv"},
                     'o');
    arguments.flag("report", report_, "also make report.html in that folder, a page to look at");
    arguments.flag("overwrite", overwrite_, "replace what is there");
  }

  Result run(const Common& common, Console& console) override {
    const RunFolder folder(folder_);
    if (report_) expect_viewer();
    if (report_ && folder_.empty())
      throw OptionError("--report needs -o, the folder for report.html");
    if (!folder_.empty())
      for (const auto& file : {folder.metrics(), folder.confusion(), folder.per_class()})
        expect_free(file, overwrite_);
    if (report_) expect_free(folder.report(), overwrite_);
    LabelsRead map = read_label_raster(map_);
    const SceneInfo grid = grid_of(map_, map.labels);
    LabelsRead truth = labels_.read(grid, console);
    if (const auto note = match_classes(map.labels.names, truth.labels)) console.warn(*note);
    const Accuracy accuracy = measure(map, truth.labels, console);
    Result result{accuracy.json(), accuracy.text()};
    if (folder_.empty()) return result;
    const MadeFolder made(folder_);
    accuracy.save(folder);
    if (report_) append_page(result, page(grid, map.labels, truth.labels, accuracy, common));
    return result;
  }

 private:
  Result page(SceneInfo grid, const Labels& map, const Labels& truth, const Accuracy& accuracy,
              const Common& common) const {
    grid.bands = 0;  // class numbers are none
    const std::string name = std::filesystem::path(map_).filename().string();
    const AccuracyReport content{
        .heading = make_heading(fmt::format("{}: accuracy", name), {}, common.command),
        .grid = grid,
        .map = map,
        .truth = truth,
        .confusion = accuracy.confusion,
        .split = accuracy.split ? &*accuracy.split : nullptr,
        .window = accuracy.window.value_or(0)};
    return save_page(make_page(content, viewer_page(), ReportRequest{}.max_bytes()),
                     RunFolder(folder_).report());
  }

  Accuracy measure(LabelsRead& map, const Labels& truth, Console& console) const {
    Split split{truth.rows, truth.cols, {}, {}, "", {}};
    if (!split_.empty()) {
      split = read_split(split_, truth, labels_.path);
    } else {
      for (Index i = 0; i < truth.pixels(); ++i)
        if (truth.id(i) > 0) split.test.push_back(i);
      console.say("no --split: all labelled pixels count, also those that trained the model");
    }
    std::vector<std::string> names =
        truth.names.size() > map.labels.names.size() ? truth.names : map.labels.names;
    if (!std::ranges::any_of(split.test, [&](Index i) { return truth.id(i) > 0; }))
      throw DataError(
          fmt::format("{}: has no test pixel that has a label in {}", split_, labels_.path));
    Accuracy accuracy{compare(map.labels, truth, split.test), std::move(names)};
    accuracy.known = numbers(map.metadata["HYPERATOM_CLASSES"]);
    if (split_.empty()) return accuracy;
    accuracy.split = split;
    const auto from_map = numbers(map.metadata["HYPERATOM_WINDOW"]);
    const Index window = window_ > 0 ? window_ : from_map.empty() ? 0 : *from_map.begin();
    if (window < 1 || window > 10000) {
      console.say(
          "the map does not say what window it was made with: --window S gives the leakage");
      return accuracy;
    }
    std::vector<char> valid(map.labels.ids.size());
    for (size_t i = 0; i < valid.size(); ++i) valid[i] = map.labels.ids[i] > 0;
    accuracy.window = window;
    accuracy.leakage = leakage(split, window, valid);
    return accuracy;
  }

  std::string map_, split_, folder_;
  LabelInput labels_;
  Index window_ = 0;
  bool report_ = false, overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_evaluate() { return std::make_unique<Evaluate>(); }

}  // namespace hyperatom::cli
