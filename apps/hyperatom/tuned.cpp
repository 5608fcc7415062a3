#include "apps/hyperatom/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "apps/hyperatom/interrupt.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/base/sha256.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

/// The trials of a tuning, one a line, after a line that says which tuning it is.
class TrialFile {
 public:
  /// `key`: of the samples, the candidates and the folds.
  TrialFile(fs::path path, const std::string& key) : path_(std::move(path)) {
    if (path_.empty()) return;
    if (fs::exists(path_)) read(key);
    // Written anew: a line that a kill cut short must not stay in the middle.
    std::string text = Json{{"format", "hyperatom-trials"}, {"key", key}}.dump() + "\n";
    for (const Trial& trial : trials_) text += line(trial);
    write_text(path_, text);
    stream_.open(path_, std::ios::app);
  }

  const std::vector<Trial>& trials() const { return trials_; }

  void add(const Trial& trial) {
    if (path_.empty()) return;
    stream_ << line(trial) << std::flush;
    if (!stream_) throw IoError(fmt::format("{}: can't be written", path_.string()));
  }

 private:
  static std::string line(const Trial& trial) {
    return Json{{"candidate", trial.candidate}, {"round", trial.round},
                {"fold", trial.fold},           {"total", trial.tally.total},
                {"right", trial.tally.right},   {"seconds", trial.seconds}}
               .dump() +
           "\n";
  }

  static bool makes_sense(const Tally& tally) {
    if (tally.total.empty() || tally.total.size() != tally.right.size()) return false;
    for (size_t c = 0; c < tally.total.size(); ++c)
      if (tally.right[c] < 0 || tally.right[c] > tally.total[c]) return false;
    return std::ranges::any_of(tally.total, [](Index count) { return count > 0; });
  }

  void read(const std::string& key) {
    std::ifstream stream(path_);
    std::string text;
    std::getline(stream, text);
    const Json head = Json::parse(text, nullptr, false);
    if (!head.is_object() || head.value("key", "") != key)
      throw DataError(
          fmt::format("{}: are not the trials of this tuning: scene, labels or options were others",
                      path_.string()));
    while (std::getline(stream, text)) {
      const Json json = Json::parse(text, nullptr, false);
      if (!json.is_object()) break;  // cut short by a kill
      try {
        Trial trial{json.at("candidate"), json.at("round"), json.at("fold"), {}, 0};
        trial.tally.total = json.at("total").get<std::vector<Index>>();
        trial.tally.right = json.at("right").get<std::vector<Index>>();
        trial.seconds = json.at("seconds");
        if (!makes_sense(trial.tally)) throw DataError("");
        trials_.push_back(std::move(trial));
      } catch (const std::exception&) {
        throw DataError(fmt::format("{}: has a line that is no trial: {}", path_.string(), text));
      }
    }
  }

  fs::path path_;
  std::vector<Trial> trials_;
  std::ofstream stream_;
};

SamplesOf samples_of(Material& material) {
  return [&](Index window) -> const SceneSamples& { return material.samples(window); };
}

std::string key_of(const TrainRequest& request, const std::vector<Candidate>& candidates,
                   const FoldRule& folds, Material& material) {
  Json json = {{"method", request.method},
               {"folds", folds.to_string()},
               {"seed", folds.seed},
               {"samples", Json::array()},
               {"candidates", Json::array()}};
  std::set<Index> windows;
  for (const Candidate& candidate : candidates) {
    TrainOptions options = candidate.options;
    json["candidates"].push_back({candidate.window, Json::parse(to_json(options.fields()))});
    windows.insert(candidate.window);
  }
  for (const Index window : windows)
    json["samples"].push_back(fingerprint(material.samples(window).samples));
  Sha256 hash;
  hash.update(json.dump());
  return hash.hex_digest();
}

}  // namespace

void TuneSettings::declare(Arguments& arguments) {
  arguments.list("grid", grid,
                 "what to try: default, paper, or values of an option, as lambda1=0.01,0.1 or "
                 "sigma=1x,2x (x: times what the data suggest)",
                 "GRID");
  for (const Field& field : fields()) arguments.option(field);
  arguments.option({.name = "jobs",
                    .value = &jobs,
                    .help = "trials at the same time; 0: as many as there are threads",
                    .lowest = 0,
                    .highest = 1024});
}

Fields TuneSettings::fields() {
  return {{.name = "folds",
           .value = &folds.folds,
           .help = "parts that the training pixels are divided into",
           .lowest = 2,
           .highest = 1000},
          {.name = "fold-blocks",
           .value = &folds.block,
           .help = "folds of whole blocks of this many pixels a side; 0: random pixels",
           .lowest = 0,
           .highest = 1e6},
          {.name = "fold-buffer",
           .value = &folds.buffer,
           .help = "with blocks: training pixels this close to a held-out one are left out",
           .lowest = 0,
           .highest = 10000}};
}

Json TuneSettings::json() {
  Json json = Json::parse(to_json(fields()));
  json["grid"] = grid;
  return json;
}

void TuneSettings::read(const Json& json) {
  Json rest = json;
  grid = rest.at("grid").get<std::vector<std::string>>();
  rest.erase("grid");
  from_json(rest.dump(), fields());
  validate(folds);
}

bool TuneSettings::anything() const {
  return !grid.empty() || folds.folds != 3 || folds.block != 0 || folds.buffer != 0;
}

Grid TuneSettings::grid_for(const TrainRequest& request, bool others) const {
  const Method& method = find_method(request.method);
  Grid base = default_grid(method), own;
  for (const std::string& text : grid) {
    if (text == "default") continue;
    if (text == "paper") {
      base = paper_grid(method);
      continue;
    }
    const Axis axis = Axis::parse(text);
    if (request.given.contains(axis.option) ||
        (axis.option == "sigma" && request.given.contains("kernel") && method.kernel))
      throw OptionError(fmt::format("--grid {}: --{} fixes it", text,
                                    axis.option == "sigma" ? "kernel" : axis.option));
    if (!others || can_tune(method, axis.option)) own.push_back(axis);
  }
  // A Gaussian without its sigma asks for one.
  const bool kernel_given =
      request.given.contains("kernel") && request.options.kernel != Spec{"gaussian", {}};
  std::erase_if(base, [&](const Axis& axis) {
    return request.given.contains(axis.option) || (axis.option == "sigma" && kernel_given);
  });
  return with_axes(std::move(base), own, method);
}

std::string Tuned::csv() const {
  std::string text = "rank";
  for (const auto& [option, value] : candidates.at(0).chosen()) text += "," + option;
  text += ",round,overall,average,balanced\n";
  Index rank = 0;
  for (const Standing& standing : tuning.standings) {
    text += std::to_string(++rank);
    for (const auto& [option, value] : candidates[at(standing.candidate)].chosen())
      text += "," + value;
    text += fmt::format(",{},{},{},{}\n", standing.round + 1, standing.overall, standing.average,
                        standing.balanced);
  }
  return text;
}

Json Tuned::json() const {
  Json all = Json::array();
  for (const Standing& standing : tuning.standings) {
    Json options = Json::object();
    for (const auto& [option, value] : candidates[at(standing.candidate)].chosen())
      options[option] = value;
    all.push_back({{"options", options},
                   {"round", standing.round + 1},
                   {"overall", standing.overall},
                   {"average", standing.average},
                   {"balanced", standing.balanced}});
  }
  return all;
}

std::string Tuned::reason(const FoldRule& folds) const {
  const Standing& best = tuning.standings.front();
  return fmt::format("best of {} by cross-validation ({}): OA {:.2f} %, AA {:.2f} %",
                     candidates.size(), folds.to_string(), 100 * best.overall, 100 * best.average);
}

void expect_tunable(const TrainRequest& request, const Grid& grid, const TuneSettings& settings,
                    Material& material) {
  const SamplesOf samples = samples_of(material);
  const auto candidates = make_candidates(find_method(request.method), grid, request.window,
                                          request.options, request.given, samples);
  make_folds(samples(candidates.at(0).window), material.source->info().cols, settings.folds);
}

Tuned tune_settings(const TrainRequest& request, const Grid& grid, const TuneSettings& settings,
                    Material& material, const fs::path& trials, Console& console) {
  const Method& method = find_method(request.method);
  const SamplesOf samples = samples_of(material);
  Tuned tuned;
  tuned.candidates =
      make_candidates(method, grid, request.window, request.options, request.given, samples);
  TuneOptions options{settings.folds, settings.jobs > 0 ? settings.jobs : parallel_slots()};
  options.folds.seed = request.options.seed;
  TrialFile file(trials, trials.empty()
                             ? std::string()
                             : key_of(request, tuned.candidates, options.folds, material));
  for (const Trial& trial : file.trials()) tuned.seconds += trial.seconds;
  std::optional<Progress> progress;
  const TuneHooks hooks{.made =
                            [&](const Trial& trial) {
                              file.add(trial);
                              tuned.seconds += trial.seconds;
                            },
                        .progress =
                            [&](Index done, Index all) {
                              if (!progress)
                                progress.emplace(console, "tuning " + request.method,
                                                 static_cast<double>(all), "trials");
                              progress->update(static_cast<double>(done));
                            },
                        .keep_going = [] { return !interrupted(); }};
  tuned.tuning = tune(method, tuned.candidates, samples, material.source->info().cols, options,
                      file.trials(), hooks);
  if (!tuned.tuning.finished) throw Interrupted();
  return tuned;
}

TrainRequest with(TrainRequest request, const Candidate& candidate) {
  request.window = candidate.window;
  request.options = candidate.options;
  return request;
}

}  // namespace hyperatom::cli
