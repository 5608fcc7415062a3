#include "apps/hyperatom/reporting.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "apps/hyperatom/accuracy.hpp"
#include "apps/hyperatom/args.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/mapping.hpp"
#include "apps/hyperatom/material.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/io/writing.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/report/map_report.hpp"
#include "hyperatom/report/page.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

/// What is known of the truth.
struct Known {
  std::unique_ptr<SceneSource> source;
  std::optional<Labels> truth = {};
  std::optional<Split> split = {};
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// The run that the model lies in, if it was trained on this scene.
std::optional<TrainRequest> run_of(const ReportRequest& request) {
  const RunFolder folder(request.model);
  if (!fs::is_directory(request.model) || !fs::exists(folder.args())) return std::nullopt;
  TrainRequest run = load_args(folder.args(), "hyperatom-run").request;
  if (!same_file(run.scene.path, request.scene.path)) return std::nullopt;
  return run;
}

Known what_is_known(const ReportRequest& request, const Model& model, Console& console) {
  Known known;
  if (request.labels.path.empty()) {
    if (!request.split.empty()) throw OptionError("--split needs --labels, which it divides");
    if (const auto run = run_of(request)) {
      Material material = prepare(*run, console);
      known.source = std::move(material.source);
      known.truth = merged(material.labels, material.truth);
      known.split = std::move(material.split);
      return known;
    }
    known.source = request.scene.open(console);
    console.say("no --labels: the report has no accuracy");
    return known;
  }
  known.source = request.scene.open(console);
  known.truth = request.labels.read(known.source->info(), console).labels;
  if (const auto note = match_classes(names_by_number(model), *known.truth)) console.warn(*note);
  if (!request.split.empty())
    known.split = read_split(request.split, *known.truth, request.labels.path);
  return known;
}

/// Of results.csv, which `train` writes; nothing where there is none.
std::vector<EpochRecord> training_record(const fs::path& path) {
  std::vector<EpochRecord> record;
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string field; std::getline(words, field, ',');) fields.push_back(field);
    try {
      EpochRecord epoch{std::stol(fields.at(0)), std::stod(fields.at(1)), std::stod(fields.at(2))};
      if (fields.size() > 8) {
        epoch.validation_loss = std::stod(fields[7]);
        epoch.validation_accuracy = std::stod(fields[8]);
      }
      record.push_back(epoch);
    } catch (const std::logic_error&) {  // of stol, stod and at
      throw DataError(fmt::format(
          "{}: '{}' is no line of a training's record, expected epoch,loss,accuracy,...",
          path.string(), line));
    }
  }
  return record;
}

std::optional<std::uint64_t> seed_of(const Model& model) {
  const auto found = model.provenance.find("seed");
  if (found == model.provenance.end()) return std::nullopt;
  try {
    return std::stoull(found->second);
  } catch (const std::exception&) {  // provenance is text that somebody else may have written
    return std::nullopt;
  }
}

fs::path page_path(const ReportRequest& request) {
  if (!request.page.empty()) return request.page;
  if (fs::is_directory(request.model)) return RunFolder(request.model).report();
  throw OptionError("report needs -o, the page to make, since the model lies in no run folder");
}

}  // namespace

void expect_viewer() {
  if (viewer_page().empty())
    throw OptionError(
        "this hyperatom was built without the viewer of reports: install Node.js 20.19 or newer "
        "with npm, and build it again");
}

void expect_page(const ReportRequest& request) {
  expect_viewer();
  const fs::path page = page_path(request);
  expect_apart({{"--output", page.string()}},
               {request.scene.path, request.scene.mask, model_path(request.model).string(),
                request.labels.path, request.split});
  expect_folder(page);
  expect_free(page, request.overwrite);
}

Heading make_heading(const std::string& title, std::optional<std::uint64_t> seed,
                     const std::vector<std::string>& command) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return {.title = title,
          .program = "hyperatom " HYPERATOM_VERSION,
          .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)),
          .command = fmt::format("hyperatom {}", fmt::join(command, " ")),
          .seed = seed};
}

Result save_page(const ReportPage& page, const fs::path& path) {
  write_text(path, page.html);
  const double megabytes = static_cast<double>(page.html.size()) / 1e6;
  std::string text = fmt::format("{}: {:.1f} MB, opens in a browser\n", path.string(), megabytes);
  for (const std::string& sentence : page.reduced) text += "  " + sentence + "\n";
  return {{{"report", path.string()}, {"bytes", page.html.size()}, {"reduced", page.reduced}},
          text};
}

void append_page(Result& result, const Result& page) {
  result.json["report"] = page.json;
  result.text += page.text;
}

Labels merged(const Labels& training, const Labels& test) {
  Labels all = test.classes() > training.classes() ? test : training;
  for (size_t i = 0; i < all.ids.size(); ++i)
    all.ids[i] = training.ids[i] > 0 ? training.ids[i] : test.ids[i];
  return all;
}

Result report(const ReportRequest& request, const Common& common, Console& console) {
  expect_page(request);
  const fs::path model_file = model_path(request.model);
  const Model model = load_model(model_file);
  Known known = what_is_known(request, model, console);
  const Scene scene = read_all(*known.source);
  Progress progress(console, "classifying", static_cast<double>(scene.info.pixels()), "pixels");
  const std::string name = fs::path(request.scene.path).filename().string();
  const MapReport content{
      .heading =
          make_heading(fmt::format("{}: {}", name, model.method), seed_of(model), common.command),
      .scene = scene,
      .model = model,
      .model_file = model_file.string(),
      .model_hash = model_hash(model),
      .truth = known.truth ? &*known.truth : nullptr,
      .split = known.split ? &*known.split : nullptr,
      .training = training_record(RunFolder(model_file.parent_path()).results())};
  const ReportPage page = make_page(content, viewer_page(), request.max_bytes(), [&](Index rows) {
    progress.update(static_cast<double>(rows * scene.info.cols));
    return !interrupted();
  });
  if (interrupted()) throw Interrupted();
  return save_page(page, page_path(request));
}

}  // namespace hyperatom::cli
