// `hyperatom tune`: settings by cross-validation on training pixels.
#include <fmt/format.h>

#include "apps/hyperatom/args.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "apps/hyperatom/tuned.hpp"
#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* tuning_format = "hyperatom-tuning";

class Tune final : public Verb {
 public:
  std::string name() const override { return "tune"; }
  std::string summary() const override {
    return "Finds settings by cross-validation on training pixels.";
  }
  std::string example() const override {
    return "hyperatom tune scene.bsq --labels fields.gpkg --class-field crop --split split.json "
           "--grid window=9,25,49 -o tuned/crop";
  }

  void declare(Arguments& arguments) override {
    request_.declare_data(arguments);
    arguments.option({.name = "output", .value = &folder_, .help = "the folder to make"}, 'o');
    arguments.option({.name = "resume", .value = &resume_, .help = "the folder to go on with"});
    arguments.flag("overwrite", overwrite_, "replace the tuning that is there");
    settings_.declare(arguments);
    request_.declare_options(arguments);
  }

  Result run(const Common& common, Console& console) override {
    if (!resume_.empty()) {
      if (request_.anything() || settings_.anything() || !folder_.empty() || overwrite_ ||
          common.seed != 0)
        throw OptionError(
            "--resume goes on with a tuning as it was begun: it takes no other option but --jobs");
      return go_on(console);
    }
    request_.expect_data("tune");
    if (folder_.empty()) throw OptionError("tune needs -o, the folder to make");
    request_.options.seed = common.seed;
    apply_method(request_);
    expect_specs(request_.options);
    validate(settings_.folds);
    const RunFolder folder(folder_);
    folder.expect_free(overwrite_);
    const Grid grid = settings_.grid_for(request_);
    if (grid.empty()) throw OptionError("every option is given: there is nothing to tune");
    Material material = prepare(request_, console);
    tell_classes(material.samples(request_.window), material, request_, console);
    expect_tunable(request_, grid, settings_, material);
    const MadeFolder made(folder.path());
    folder.clear();
    save_args({tuning_format, request_, common.command, {}, settings_.json()}, folder.args());
    save_split(material.split, folder.split());
    return tuned(grid, material, folder, console);
  }

 private:
  Result go_on(Console& console) {
    const RunFolder folder(resume_);
    const Args args = load_args(folder.args(), tuning_format);
    request_ = args.request;
    const Index jobs = settings_.jobs;
    Grid grid;
    try {
      settings_.read(args.more);
      grid = settings_.grid_for(request_);
    } catch (const Json::exception&) {
      throw DataError(fmt::format("{}: is not whole", folder.args().string()));
    } catch (const OptionError& error) {
      throw DataError(fmt::format("{}: {}", folder.args().string(), error.what()));
    }
    settings_.jobs = jobs;
    Material material = prepare(request_, console);
    return tuned(grid, material, folder, console);
  }

  Result tuned(const Grid& grid, Material& material, const RunFolder& folder, Console& console) {
    console.log_to(folder.log());
    const Tuned tuned = [&] {
      try {
        return tune_settings(request_, grid, settings_, material, folder.trials(), console);
      } catch (const Interrupted&) {
        console.warn(
            fmt::format("stopped; go on with: hyperatom tune --resume {}", folder.path().string()));
        throw;
      }
    }();
    write_text(folder.table(), tuned.csv());
    Json options = Json::object();
    for (const auto& [option, value] : tuned.best().chosen()) options[option] = value;
    const Standing& best = tuned.tuning.standings.front();
    return {{{"folder", folder.path().string()},
             {"table", folder.table().string()},
             {"method", request_.method},
             {"folds", settings_.folds.to_string()},
             {"candidates", tuned.candidates.size()},
             {"rounds", tuned.tuning.rounds},
             {"seconds", tuned.seconds},
             {"options", options},
             {"overall", best.overall},
             {"average", best.average},
             {"tried", tuned.json()}},
            table(tuned) + fmt::format("{}\n--method {}{}\nall that was tried: {}\n",
                                       tuned.reason(settings_.folds), request_.method,
                                       tuned.best().flags(), folder.table().string())};
  }

  /// The first ten.
  static std::string table(const Tuned& tuned) {
    std::vector<std::vector<std::string>> rows = {{}};
    for (const auto& [option, value] : tuned.best().chosen()) rows[0].push_back(option);
    for (const char* title : {"round", "OA %", "AA %"}) rows[0].emplace_back(title);
    for (const Standing& standing : tuned.tuning.standings) {
      if (rows.size() > 10) break;
      std::vector<std::string>& row = rows.emplace_back();
      for (const auto& [option, value] :
           tuned.candidates[static_cast<size_t>(standing.candidate)].chosen())
        row.push_back(value);
      row.push_back(std::to_string(standing.round + 1));
      row.push_back(fmt::format("{:.2f}", 100 * standing.overall));
      row.push_back(fmt::format("{:.2f}", 100 * standing.average));
    }
    std::vector<size_t> widths(rows[0].size(), 0);
    for (const auto& row : rows)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
      for (size_t i = 0; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
      text += "\n";
    }
    return text;
  }

  TrainRequest request_;
  TuneSettings settings_;
  std::string folder_, resume_;
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_tune() { return std::make_unique<Tune>(); }

}  // namespace hyperatom::cli
