#include "apps/hyperatom/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

#include "apps/hyperatom/args.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/material.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "apps/hyperatom/tuned.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/automatic.hpp"
#include "hyperatom/learn/checkpoint_file.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/learn/trainer.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

bool learns_by_steps(const TrainRequest& request) {
  return find_method(request.method).family == Method::Family::sdl;
}

// ---- results.csv

/// The mean over the steps of an epoch, one line each.
class EpochTable {
 public:
  /// Keeps the first `epochs` lines of an earlier file.
  void load(const fs::path& path, Index epochs) {
    std::ifstream stream(path);
    std::string line;
    std::getline(stream, line);
    while (static_cast<Index>(lines_.size()) < epochs && std::getline(stream, line))
      lines_.push_back(line);
  }

  void add(const StepReport& report) {
    ++steps_;
    loss_ += report.batch.loss;
    accuracy_ += report.batch.accuracy;
    active_ += report.active;
    gap_ = std::max(gap_, report.gap);
    unconverged_ += report.unconverged;
  }

  void end_epoch(const StepReport& report) {
    const auto n = static_cast<double>(steps_);
    std::string line = fmt::format("{},{},{},{},{},{},{},", report.epoch, loss_ / n, accuracy_ / n,
                                   active_ / n, gap_, unconverged_, report.rate);
    if (report.validation)
      line += fmt::format("{},{}", report.validation->loss, report.validation->accuracy);
    else
      line += ",";
    lines_.push_back(line);
    steps_ = unconverged_ = 0;
    loss_ = accuracy_ = active_ = gap_ = 0;
  }

  void save(const fs::path& path) const {
    std::string text =
        "epoch,loss,accuracy,active_atoms,worst_gap,unconverged,rate,validation_loss,"
        "validation_accuracy\n";
    for (const std::string& line : lines_) text += line + "\n";
    write_text(path, text);
  }

 private:
  std::vector<std::string> lines_;
  Index steps_ = 0, unconverged_ = 0;
  double loss_ = 0, accuracy_ = 0, active_ = 0, gap_ = 0;
};

// ---- Settings

/// By rules and short trainings; those of the paper's other methods by cross-validation.
std::vector<Choice> choose(TrainRequest& request, Material& material, Console& console) {
  if (learns_by_steps(request)) {
    std::optional<Progress> progress;
    auto choices = choose_settings(material.samples(request.window).samples, request.given,
                                   request.options, [&](Index done, Index trials) {
                                     if (!progress)
                                       progress.emplace(console, "choosing settings",
                                                        static_cast<double>(trials), "trials");
                                     progress->update(static_cast<double>(done));
                                     return !interrupted();
                                   });
    if (interrupted()) throw Interrupted();
    return choices;
  }
  const TuneSettings settings;
  Grid grid = settings.grid_for(request);
  std::erase_if(grid, [](const Axis& axis) { return axis.option == "window"; });
  if (grid.empty()) return {};
  const Tuned tuned = tune_settings(request, grid, settings, material, {}, console);
  request = with(request, tuned.best());
  std::vector<Choice> choices;
  for (const auto& [option, value] : tuned.best().chosen())
    choices.push_back({option, value, tuned.reason(settings.folds)});
  return choices;
}

// ---- Training and testing

/// Steps to the end, leaving checkpoints. What is saved is always the end of an epoch, so that a
/// run that was stopped leaves the same files as one that was not.
void run_epochs(Trainer& trainer, const RunFolder& folder, EpochTable& table, Console& console) {
  using Clock = std::chrono::steady_clock;
  Progress progress(console, "training", static_cast<double>(trainer.steps()), "steps");
  Checkpoint end_of_epoch = trainer.checkpoint();
  auto saved = Clock::now();
  const auto save = [&] {
    table.save(folder.results());  // first: lines too many are dropped on resuming
    save_checkpoint(end_of_epoch, folder.last());
    saved = Clock::now();
  };
  const Index per_epoch =
      std::max<Index>(1, trainer.steps() / std::max<Index>(1, end_of_epoch.options.epochs));
  trainer.run([&](const StepReport& report) {
    table.add(report);
    if (report.step % per_epoch == 0) {
      table.end_epoch(report);
      end_of_epoch = trainer.checkpoint();
      if (Clock::now() - saved > std::chrono::seconds(10)) save();
    }
    progress.update(static_cast<double>(report.step),
                    fmt::format("epoch {}  loss {:.4f}  {:.1f} active atoms", report.epoch,
                                report.batch.loss, report.active));
    return !interrupted();
  });
  save();
  if (interrupted() && !trainer.finished()) {
    console.warn(fmt::format("stopped after epoch {}; go on with: hyperatom train --resume {}",
                             end_of_epoch.step / per_epoch, folder.path().string()));
    throw Interrupted();
  }
}

/// From the run's last checkpoint, or from the start if it has none.
Trainer continued(const Samples& samples, const TrainOptions& options, const RunFolder& folder) {
  if (!fs::exists(folder.last())) return Trainer(samples, options);
  Checkpoint checkpoint = load_checkpoint(folder.last());
  try {
    return Trainer(samples, std::move(checkpoint));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", folder.last().string(), error.what()));
  }
}

/// What a method without steps learns, or the rest of the steps of one with them.
Model learn(const TrainRequest& request, const Samples& samples, Trainer* trainer,
            const RunFolder& folder, Console& console) {
  if (trainer == nullptr) return fit(find_method(request.method), samples, request.options);
  EpochTable table;
  const Index done = trainer->checkpoint().step;
  table.load(folder.results(),
             done * request.options.epochs / std::max<Index>(1, trainer->steps()));
  run_epochs(*trainer, folder, table, console);
  return trainer->model();
}

Result finish(const Args& args, Material& material, std::optional<Trainer> trainer,
              const RunFolder& folder, Console& console) {
  const SceneSamples& samples = material.samples(args.request.window);
  const auto start = std::chrono::steady_clock::now();
  Model model =
      learn(args.request, samples.samples, trainer ? &*trainer : nullptr, folder, console);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  complete(model, material, args.request, args.command);
  save_model(model, folder.model());

  const bool svm = model.rule() == Model::Rule::votes;
  Json json = {{"run", folder.path().string()},
               {"model", folder.model().string()},
               {"method", model.method},
               {"window", model.window},
               {"kernel", model.kernel.to_string()},
               {"lambda1", svm ? Json(nullptr) : Json(model.coding.lambda1)},
               {"cost", svm ? Json(args.request.options.cost) : Json(nullptr)},
               {"atoms", model.atoms()},
               {"classes", model.class_names},
               {"training_pixels", samples.samples.size()},
               {"unusable_pixels", samples.not_valid},
               {"steps", trainer ? trainer->checkpoint().step : 0},
               {"seconds", seconds},
               {"chosen", choices_json(args.choices)},
               {"test", nullptr}};
  std::string text = fmt::format(
      "{} trained on {} pixels of {} classes in {:.1f} s: {} {}, window {}, {}, {}\n", model.method,
      grouped(samples.samples.size()), model.classes(), seconds, model.atoms(),
      svm ? "support vectors" : "atoms", model.window, model.kernel.to_string(),
      svm ? fmt::format("cost {}", args.request.options.cost)
          : fmt::format("lambda1 {}", model.coding.lambda1));
  if (!material.split.test.empty()) {
    const Accuracy accuracy = test(model, material, console).accuracy;
    accuracy.save(folder);
    json["test"] = accuracy.json();
    text += accuracy.text();
  }
  text += fmt::format("run folder: {}\n", folder.path().string());
  console.say("done");
  return {json, text};
}

}  // namespace

Result train(TrainRequest request, const std::string& run, bool overwrite, const Common& common,
             Console& console) {
  request.options.seed = common.seed;
  apply_method(request);
  expect_specs(request.options);
  const RunFolder folder(run);
  folder.expect_free(overwrite);
  Material material = prepare(request, console);
  tell_classes(material.samples(request.window), material, request, console);

  Args args{.request = request, .command = common.command};
  args.choices = choose(args.request, material, console);
  validate(args.request.options);
  const MadeFolder made(folder.path());
  folder.clear();
  save_args(args, folder.args());
  save_split(material.split, folder.split());
  console.log_to(folder.log());
  console.say(fmt::format("command: hyperatom {}", fmt::join(common.command, " ")));
  for (const Choice& choice : args.choices)
    console.say(fmt::format("{} {}: {}", choice.option, choice.value, choice.reason));
  std::optional<Trainer> trainer;
  if (learns_by_steps(request))
    trainer.emplace(material.samples(request.window).samples, args.request.options);
  return finish(args, material, std::move(trainer), folder, console);
}

Result resume(const std::string& run, Console& console) {
  const RunFolder folder(run);
  const Args args = load_args(folder.args(), "hyperatom-run");
  console.log_to(folder.log());
  Material material = prepare(args.request, console);
  if (fs::exists(folder.split()) && load_split(folder.split()).hash() != material.split.hash())
    throw DataError(fmt::format("{}: is another split than that of {}", args.request.split,
                                folder.split().string()));
  const Samples& samples = material.samples(args.request.window).samples;
  std::optional<Trainer> trainer;
  if (learns_by_steps(args.request))
    trainer.emplace(continued(samples, args.request.options, folder));
  return finish(args, material, std::move(trainer), folder, console);
}

}  // namespace hyperatom::cli
