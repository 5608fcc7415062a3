#include "apps/hyperatom/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

#include "apps/hyperatom/accuracy.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/leakage.hpp"
#include "hyperatom/learn/automatic.hpp"
#include "hyperatom/learn/checkpoint_file.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

constexpr int args_schema = 1;
constexpr const char* args_format = "hyperatom-run";

size_t at(Index i) { return static_cast<size_t>(i); }

// ---- What to train on

struct Material {
  std::unique_ptr<SceneSource> source;
  Labels labels;  ///< of the training pixels
  Labels truth;   ///< of the test pixels
  Split split;
  Normalizer normalizer;
  SceneSamples samples;
};

/// A method of the paper says S = 1 or more, and which kernels.
void apply_method(TrainRequest& request) {
  const bool single = request.method.starts_with("sdl-l1-");
  const bool linear = request.method.ends_with("-l");
  if (single && !request.given.contains("window")) request.window = 1;
  if (linear && !request.given.contains("kernel")) {
    request.options.kernel = {"linear", {}};
    request.given.insert("kernel");
  }
  if (single != (request.window == 1))
    throw OptionError(fmt::format("--method {} means a window of {}, not {}", request.method,
                                  single ? "1" : "more than 1", request.window));
  if (linear != (request.options.kernel.name == "linear"))
    throw OptionError(fmt::format("--method {} means {} kernel, not {}", request.method,
                                  linear ? "the linear" : "another than the linear",
                                  request.options.kernel.name));
}

/// Before anything is read. A Gaussian without its sigma is completed later.
void expect_specs(const TrainOptions& options) {
  const char* option = "--kernel";
  try {
    if (options.kernel != Spec{"gaussian", {}}) make_kernel(options.kernel);
    option = "--loss";
    make_loss(options.loss);
  } catch (const OptionError& error) {
    throw OptionError(fmt::format("{}: {}", option, error.what()));
  }
}

/// Which pixels are for training: all that have a label, unless there is a split.
Split choose_split(const TrainRequest& request, const Labels& labels, const Labels& truth) {
  if (!request.test_labels.empty()) {
    try {
      return split_of(labels, truth);
    } catch (const DataError& error) {
      throw DataError(
          fmt::format("{}, {}: {}", request.labels.path, request.test_labels, error.what()));
    }
  }
  if (!request.split.empty()) return read_split(request.split, labels, request.labels.path);
  Split split{labels.rows, labels.cols, {}, {}, "all labelled pixels", {}};
  for (Index i = 0; i < labels.pixels(); ++i)
    if (labels.id(i) > 0) split.train.push_back(i);
  return split;
}

void expect_labelled(const std::vector<Index>& pixels, const Labels& labels,
                     const TrainRequest& request) {
  if (pixels.empty())
    throw DataError(fmt::format("{}: has no training pixel",
                                request.split.empty() ? request.labels.path : request.split));
  for (const Index i : pixels)
    if (labels.id(i) == 0)
      throw DataError(fmt::format("{}: pixel {},{} has no label in {}", request.split,
                                  i / labels.cols, i % labels.cols, request.labels.path));
}

void tell_classes(const Material& material, const TrainRequest& request, Console& console) {
  const SceneSamples& samples = material.samples;
  if (samples.not_valid > 0)
    console.warn(
        fmt::format("{} training pixels can't be used (no-data, masked, not finite or zero)",
                    grouped(samples.not_valid)));
  if (samples.class_ids.size() < 2)
    throw DataError(fmt::format(
        "{}: the training pixels are all of class {} ({}), expected at least two classes",
        request.labels.path, samples.class_ids[0],
        material.labels.names[at(samples.class_ids[0]) - 1]));
  std::vector<Index> counts(samples.class_ids.size(), 0);
  for (const Index label : samples.samples.labels) ++counts[at(label)];
  for (size_t c = 0; c < counts.size(); ++c)
    if (counts[c] < request.options.atoms_per_class)
      console.warn(fmt::format("class {} ({}) has only {} training pixel{}", samples.class_ids[c],
                               material.labels.names[at(samples.class_ids[c]) - 1], counts[c],
                               counts[c] == 1 ? "" : "s"));
}

Material prepare(const TrainRequest& request, Console& console) {
  Material material;
  material.source = request.scene.open(console);
  material.labels = request.labels.read(material.source->info(), console).labels;
  material.truth = material.labels;
  if (!request.test_labels.empty()) {
    LabelInput test = request.labels;
    test.path = request.test_labels;
    material.truth = test.read(material.source->info(), console).labels;
    if (const auto note = match_classes(material.labels.names, material.truth)) console.warn(*note);
  }
  material.split = choose_split(request, material.labels, material.truth);
  expect_labelled(material.split.train, material.labels, request);
  for (const std::string& note : material.split.notes) console.say("split: " + note);
  material.normalizer = fit_normalizer(request.normalize, *material.source);
  material.samples = gather_samples(*material.source, material.labels, material.split.train,
                                    request.window, material.normalizer);
  tell_classes(material, request, console);
  return material;
}

// ---- args.json

struct Args {
  TrainRequest request;
  std::vector<std::string> command;
  std::vector<Choice> choices;
};

/// So that the run can be gone on with from anywhere.
void make_absolute(TrainRequest& request) {
  for (std::string* path : {&request.scene.path, &request.scene.mask, &request.labels.path,
                            &request.test_labels, &request.split})
    if (!path->empty()) *path = fs::absolute(*path).lexically_normal().string();
}

Json choices_json(const std::vector<Choice>& choices) {
  Json json = Json::array();
  for (const Choice& choice : choices)
    json.push_back({{"option", choice.option}, {"value", choice.value}, {"reason", choice.reason}});
  return json;
}

void save_args(Args args, const fs::path& path) {
  make_absolute(args.request);
  write_json(path, {{"format", args_format},
                    {"schema", args_schema},
                    {"version", HYPERATOM_VERSION},
                    {"command", args.command},
                    {"inputs", Json::parse(to_json(args.request.fields()))},
                    {"options", Json::parse(to_json(args.request.options.fields()))},
                    {"chosen", choices_json(args.choices)}});
}

Args load_args(const fs::path& path) {
  std::ifstream stream(path);
  if (!stream)
    throw DataError(
        fmt::format("{}: can't be read, expected the args.json of a run", path.string()));
  const Json json = Json::parse(stream, nullptr, false);
  Args args;
  try {
    if (!json.is_object() || json.at("format") != args_format)
      throw DataError(fmt::format("{}: is not the args.json of a run", path.string()));
    if (json.at("schema") != args_schema)
      throw DataError(fmt::format("{}: schema {}, this version reads {}", path.string(),
                                  json.at("schema").dump(), args_schema));
    args.command = json.at("command").get<std::vector<std::string>>();
    from_json(json.at("inputs").dump(), args.request.fields());
    from_json(json.at("options").dump(), args.request.options.fields());
    for (const Json& choice : json.at("chosen"))
      args.choices.push_back({choice.at("option"), choice.at("value"), choice.at("reason")});
  } catch (const Json::exception&) {
    throw DataError(
        fmt::format("{}: is not the args.json of a run, or not a whole one", path.string()));
  } catch (const OptionError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
  return args;
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

// ---- Training and testing

/// The classes of the given pixels (ascending); rows without one of them are not classified.
Labels classify_pixels(const Classifier& classifier, SceneSource& source,
                       const std::vector<Index>& pixels, Index reach, Console& console) {
  const SceneInfo& scene = source.info();
  Labels map{scene.rows, scene.cols, std::vector<std::int32_t>(at(scene.pixels()), 0), {}, {}, {}};
  Progress progress(console, "testing", static_cast<double>(scene.rows), "rows");
  for (size_t next = 0; next < pixels.size();) {
    const Index first = pixels[next] / scene.cols;
    Index end = first + 1;
    // Rows closer than two windows are cheaper to classify than to skip.
    for (; next < pixels.size() && pixels[next] / scene.cols <= end + 2 * reach; ++next)
      end = pixels[next] / scene.cols + 1;
    classifier.classify(
        source, {.first = first, .count = end - first},
        [&](const ClassifiedStrip& strip) {
          std::copy(strip.ids.begin(), strip.ids.end(), map.ids.begin() + strip.first * scene.cols);
        },
        [&](Index rows) {
          progress.update(static_cast<double>(first + rows));
          return !interrupted();
        });
    if (interrupted()) throw Interrupted();
  }
  return map;
}

/// Which pixels can be used, known for all that windows of `pixels` may reach.
std::vector<char> valid_around(SceneSource& source, const std::vector<Index>& pixels, Index reach) {
  constexpr Index most = 64;  // rows read at a time
  const SceneInfo& scene = source.info();
  std::vector<char> valid(at(scene.pixels()), 1);
  Strip strip;
  Index known = 0;  // rows before are read, or not needed
  for (const Index pixel : pixels) {
    const Index row = pixel / scene.cols;
    known = std::max(known, row - reach);
    for (const Index end = std::min(scene.rows, row + reach + 1); known < end;) {
      const Index count = std::min(most, scene.rows - known);
      source.read(known, count, strip);
      std::copy(strip.valid.begin(), strip.valid.end(), valid.begin() + known * scene.cols);
      known += count;
    }
  }
  return valid;
}

Accuracy test(const Model& model, const Material& material, Console& console) {
  const Index reach = Neighborhoods(model.window).reach();
  const Labels map =
      classify_pixels(Classifier(model), *material.source, material.split.test, reach, console);
  Accuracy accuracy{compare(map, material.truth, material.split.test), material.truth.names};
  for (const Index id : model.class_ids) accuracy.known.insert(static_cast<std::int32_t>(id));
  accuracy.window = model.window;
  accuracy.split = material.split;
  accuracy.leakage = leakage(material.split, model.window,
                             valid_around(*material.source, material.split.test, reach));
  return accuracy;
}

Model finish_model(const Trainer& trainer, const Material& material, const Args& args) {
  Model model = trainer.model();
  model.normalizer = material.normalizer;
  model.wavelengths = material.source->info().wavelengths;
  name_classes(material.samples, material.labels, model);
  model.provenance = {{"version", HYPERATOM_VERSION},
                      {"command", fmt::format("hyperatom {}", fmt::join(args.command, " "))},
                      {"scene", fs::path(args.request.scene.path).filename().string()},
                      {"labels", fs::path(args.request.labels.path).filename().string()},
                      {"split", material.split.rule},
                      {"split_sha256", material.split.hash()},
                      {"seed", std::to_string(args.request.options.seed)},
                      {"training_pixels", std::to_string(material.samples.samples.size())}};
  return model;
}

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

Result finish(Args args, Material& material, Trainer& trainer, const RunFolder& folder,
              Console& console) {
  const auto start = std::chrono::steady_clock::now();
  EpochTable table;
  const Index epochs_done =
      trainer.checkpoint().step * args.request.options.epochs / std::max<Index>(1, trainer.steps());
  table.load(folder.results(), epochs_done);
  run_epochs(trainer, folder, table, console);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Model model = finish_model(trainer, material, args);
  save_model(model, folder.model());

  Json json = {{"run", folder.path().string()},
               {"model", folder.model().string()},
               {"method", model.method},
               {"window", model.window},
               {"kernel", model.kernel.to_string()},
               {"lambda1", model.coding.lambda1},
               {"atoms", model.atoms()},
               {"classes", model.class_names},
               {"training_pixels", material.samples.samples.size()},
               {"unusable_pixels", material.samples.not_valid},
               {"steps", trainer.checkpoint().step},
               {"seconds", seconds},
               {"chosen", choices_json(args.choices)},
               {"test", nullptr}};
  std::string text = fmt::format(
      "{} trained on {} pixels of {} classes in {:.1f} s: {} atoms, window {}, {}, lambda1 {}\n",
      model.method, grouped(material.samples.samples.size()), model.classes(), seconds,
      model.atoms(), model.window, model.kernel.to_string(), model.coding.lambda1);
  if (!material.split.test.empty()) {
    const Accuracy accuracy = test(model, material, console);
    accuracy.save(folder);
    json["test"] = accuracy.json();
    text += accuracy.text();
  }
  text += fmt::format("run folder: {}\n", folder.path().string());
  console.say("done");
  return {json, text};
}

}  // namespace

Fields TrainRequest::settings() {
  return {{.name = "method",
           .value = &method,
           .help = "method of the paper",
           .choices = {"sdl-l1-l", "sdl-l1-k", "sdl-l12-l", "sdl-l12-k"}},
          {.name = "window",
           .value = &window,
           .help = "pixels that are coded together: the closest ones; 9, 25, 49 are squares",
           .symbol = "S",
           .lowest = 1,
           .highest = 10000},
          {.name = "normalize",
           .value = &normalize,
           .help = "scaling of the pixels, fitted on this scene and kept in the model",
           .choices = normalizer_kinds()}};
}

Fields TrainRequest::fields() {
  Fields all = {{.name = "scene", .value = &scene.path},
                {.name = "variable", .value = &scene.variable},
                {.name = "mask", .value = &scene.mask},
                {.name = "labels", .value = &labels.path},
                {.name = "label-variable", .value = &labels.variable},
                {.name = "class-field", .value = &labels.class_field},
                {.name = "all-touched", .value = &labels.all_touched},
                {.name = "label-crs", .value = &labels.crs},
                {.name = "test-labels", .value = &test_labels},
                {.name = "split", .value = &split}};
  const Fields more = settings();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Result train(TrainRequest request, const std::string& run, bool overwrite, const Common& common,
             Console& console) {
  request.options.seed = common.seed;
  apply_method(request);
  expect_specs(request.options);
  if (!request.split.empty() && !request.test_labels.empty())
    throw OptionError("--split and --test-labels both say what to test on: give one of them");
  const RunFolder folder(run);
  folder.expect_free(overwrite);
  Material material = prepare(request, console);

  Args args{request, common.command, {}};
  {
    std::optional<Progress> progress;
    args.choices = choose_settings(material.samples.samples, request.given, args.request.options,
                                   [&](Index done, Index trials) {
                                     if (!progress)
                                       progress.emplace(console, "choosing settings",
                                                        static_cast<double>(trials), "trials");
                                     progress->update(static_cast<double>(done));
                                     return !interrupted();
                                   });
  }
  if (interrupted()) throw Interrupted();
  validate(args.request.options);
  const MadeFolder made(folder.path());
  folder.clear();
  save_args(args, folder.args());
  save_split(material.split, folder.split());
  console.log_to(folder.log());
  console.say(fmt::format("command: hyperatom {}", fmt::join(common.command, " ")));
  for (const Choice& choice : args.choices)
    console.say(fmt::format("{} {}: {}", choice.option, choice.value, choice.reason));
  Trainer trainer(material.samples.samples, args.request.options);
  return finish(std::move(args), material, trainer, folder, console);
}

Result resume(const std::string& run, Console& console) {
  const RunFolder folder(run);
  Args args = load_args(folder.args());
  console.log_to(folder.log());
  Material material = prepare(args.request, console);
  if (fs::exists(folder.split()) && load_split(folder.split()).hash() != material.split.hash())
    throw DataError(fmt::format("{}: is another split than that of {}", args.request.split,
                                folder.split().string()));
  Trainer trainer = continued(material.samples.samples, args.request.options, folder);
  return finish(std::move(args), material, trainer, folder, console);
}

}  // namespace hyperatom::cli
