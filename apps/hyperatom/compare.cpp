// `hyperatom compare`: the paper's methods side by side, each tuned on the training pixels of each
// split.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>

#include "apps/hyperatom/args.hpp"
#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/reporting.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "apps/hyperatom/tuned.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/eval/comparison.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/report/comparison_report.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* comparison_format = "hyperatom-comparison";

/// The files of a comparison: a folder per split, in it one per method, which is a run folder.
class ComparisonFolder {
 public:
  explicit ComparisonFolder(fs::path path) : path_(std::move(path)) {}

  RunFolder top() const { return RunFolder(path_); }
  RunFolder split(Index repeat) const { return RunFolder(path_ / fmt::format("split-{}", repeat)); }
  RunFolder cell(Index repeat, const std::string& method) const {
    return RunFolder(split(repeat).path() / method);
  }
  static fs::path result(const RunFolder& cell) { return cell.path() / "cell.json"; }
  fs::path table(const char* extension) const { return path_ / fmt::format("table.{}", extension); }
  fs::path cells() const { return path_ / "cells.csv"; }

  /// What an earlier comparison left, and nothing else.
  void clear() const {
    for (const char* extension : {"md", "csv", "json", "tex"}) remove(table(extension));
    remove(cells());
    for (Index repeat = 1; fs::exists(split(repeat).split()); ++repeat) {
      for (const Method& method : methods()) {
        remove(result(cell(repeat, method.name)));
        cell(repeat, method.name).clear();
        remove(cell(repeat, method.name).path());
      }
      split(repeat).clear();
      remove(split(repeat).path());
    }
    top().clear();
  }

 private:
  static void remove(const fs::path& path) {
    std::error_code ignored;  // a folder that holds something else stays
    fs::remove(path, ignored);
  }

  fs::path path_;
};

Json to_json(const Cell& cell) {
  return {{"method", cell.method},
          {"repeat", cell.repeat},
          {"overall", cell.overall},
          {"average", cell.average},
          {"kappa", number(cell.kappa)},
          {"leakage", cell.leakage},
          {"atoms", cell.atoms},
          {"window", cell.window},
          {"tune_seconds", cell.tune_seconds},
          {"train_seconds", cell.train_seconds},
          {"classify_seconds", cell.classify_seconds},
          {"settings", cell.settings}};
}

Cell load_cell(const fs::path& path, Index repeat, const std::string& method) {
  std::ifstream stream(path);
  const Json json = Json::parse(stream, nullptr, false);
  Cell cell;
  try {
    cell = {json.at("method"),
            json.at("repeat"),
            json.at("overall"),
            json.at("average"),
            json.at("kappa").is_null() ? std::nan("") : json.at("kappa").get<double>(),
            json.at("leakage"),
            json.at("tune_seconds"),
            json.at("train_seconds"),
            json.at("classify_seconds"),
            json.at("atoms"),
            json.at("window"),
            json.at("settings")};
  } catch (const Json::exception&) {
    throw DataError(fmt::format("{}: is no result of a comparison", path.string()));
  }
  if (cell.method != method || cell.repeat != repeat)
    throw DataError(fmt::format("{}: is the result of {} on split {}, expected {} on split {}",
                                path.string(), cell.method, cell.repeat, method, repeat));
  return cell;
}

Json to_json(const Spread& spread) {
  return {{"mean", number(spread.mean)}, {"deviation", number(spread.deviation)}};
}

std::vector<std::string> parse_methods(const std::string& text) {
  if (text == "all") return method_names();
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    try {
      names.push_back(find_method(text.substr(begin, end - begin)).name);
    } catch (const OptionError& error) {
      throw OptionError(fmt::format("--methods: {}", error.what()));
    }
    if (std::ranges::count(names, names.back()) > 1)
      throw OptionError(fmt::format("--methods has {} twice", names.back()));
    begin = end + 1;
  }
  return names;
}

/// The request for one method: what it does not heed is left out.
TrainRequest request_for(TrainRequest request, const Method& method) {
  request.method = method.name;
  const std::set<std::string> heeded = method.options();
  std::erase_if(request.given, [&](const std::string& name) {
    if (name == "window") return !method.joint;
    if (name == "kernel") return !method.kernel;
    return name != "normalize" && !heeded.contains(name);
  });
  if (!method.kernel) request.options.kernel = {"linear", {}};
  apply_method(request);
  return request;
}

class Compare final : public Verb {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override {
    return "Compares the paper's methods, each tuned on training pixels.";
  }
  std::string example() const override {
    return "hyperatom compare indian_pines.mat --labels indian_pines_gt.mat --train 997 --repeats "
           "5 "
           "-o compared/indian-pines";
  }

  void declare(Arguments& arguments) override {
    request_.declare_data(arguments);
    rule_.declare(arguments);
    arguments.option({.name = "methods",
                      .value = &methods_,
                      .help = "methods of the paper, separated by commas; all: the ten"});
    arguments.option({.name = "repeats",
                      .value = &repeats_,
                      .help =
                          "random splits, or, of a given split, trainings: their seeds count up "
                          "from --seed",
                      .lowest = 1,
                      .highest = 1000});
    std::vector<std::string> papers = {"auto", "none"};
    for (const PaperTable& table : paper_tables()) papers.emplace_back(table.scene);
    arguments.option({.name = "paper",
                      .value = &paper_,
                      .help = "whose figures of the paper to put beside; auto: by the scene's size",
                      .choices = papers});
    arguments.option({.name = "output", .value = &folder_, .help = "the folder to make"}, 'o');
    arguments.option({.name = "resume", .value = &resume_, .help = "the folder to go on with"});
    arguments.flag("report", report_, "also make report.html, a page to look at");
    arguments.flag("overwrite", overwrite_, "replace the comparison that is there");
    settings_.declare(arguments);
    request_.declare_options(arguments, {"method"});
  }

  Result run(const Common& common, Console& console) override {
    if (report_) expect_viewer();
    if (!resume_.empty()) {
      if (request_.anything() || settings_.anything() || rule_.anything() || !folder_.empty() ||
          overwrite_ || common.seed != 0 || methods_ != "all" || repeats_ != 1 || paper_ != "auto")
        throw OptionError(
            "--resume goes on with a comparison as it was begun: it takes no other option but "
            "--jobs and --report");
      return go_on(console);
    }
    request_.expect_data("compare");
    if (folder_.empty()) throw OptionError("compare needs -o, the folder to make");
    const bool given_split = !request_.split.empty() || !request_.test_labels.empty();
    if (given_split && rule_.anything())
      throw OptionError(
          "--split and --test-labels are a split; --train, --fraction, --per-class, --blocks, "
          "--polygons and --buffer make one: give one kind");
    if (!given_split) rule_.rule(common.seed);  // so that what is wrong is said before reading
    chosen_ = parse_methods(methods_);
    validate(settings_.folds);
    request_.options.seed = common.seed;
    expect_specs(request_.options);
    expect_grid();
    const ComparisonFolder folder(folder_);
    folder.top().expect_free(overwrite_);
    Material material = prepare(request_, console);
    std::vector<Split> splits;
    for (Index r = 0; r < repeats_; ++r)
      splits.push_back(given_split ? material.split
                                   : divide(material.labels,
                                            rule_.rule(common.seed + static_cast<std::uint64_t>(r)),
                                            request_.labels.path));
    for (Split& split : splits) {
      const std::string& path = request_.split.empty() ? request_.labels.path : request_.split;
      if (split.test.empty()) throw DataError(fmt::format("{}: no pixel is left to test on", path));
      material.use(split, request_, path);
      expect_tunable_by_all(material, &split == &splits.front(), console);
    }
    const MadeFolder made(folder.top().path());
    folder.clear();
    for (Index r = 1; r <= repeats_; ++r) {
      const MadeFolder made_split(folder.split(r).path());
      save_split(splits[static_cast<size_t>(r - 1)], folder.split(r).split());
    }
    Json more = settings_.json();
    more["methods"] = chosen_;
    more["repeats"] = repeats_;
    more["paper"] = paper_;
    save_args({comparison_format, request_, common.command, {}, more}, folder.top().args());
    return compared(material, folder, common.command, console);
  }

 private:
  /// What is wrong with options and grids, before anything is made; told of the first split alone,
  /// of which the others are repeats.
  void expect_tunable_by_all(Material& material, bool first, Console& console) const {
    const SceneSamples& pixels = material.samples(1);
    make_folds(pixels, material.source->info().cols, settings_.folds);
    if (!first) return;
    tell_classes(pixels, material, request_, console);
    for (const std::string& name : chosen_) {
      const TrainRequest request = request_for(request_, find_method(name));
      expect_tunable(request, settings_.grid_for(request, true), settings_, material);
    }
  }

  /// Options and axes that no method heeds, before anything is read.
  void expect_grid() const {
    for (const std::string& option : request_.given)
      if (option != "normalize" && std::ranges::none_of(chosen_, [&](const std::string& name) {
            return request_for(request_, find_method(name)).given.contains(option);
          })) {
        TrainOptions defaults;
        std::string flag = option;
        for (const Field& field : defaults.fields())
          if (field.name == option) flag = flag_name(field);
        throw OptionError(fmt::format("--{} means nothing to --methods {}", flag, methods_));
      }
    for (const std::string& text : settings_.grid) {
      if (text == "default" || text == "paper") continue;
      const Axis axis = Axis::parse(text);
      if (std::ranges::none_of(chosen_, [&](const std::string& method) {
            return can_tune(find_method(method), axis.option);
          }))
        throw OptionError(
            fmt::format("--grid {}: none of the methods has an option '{}'", text, axis.option));
    }
    for (const std::string& method : chosen_)
      settings_.grid_for(request_for(request_, find_method(method)), true);
  }

  Result go_on(Console& console) {
    const ComparisonFolder folder(resume_);
    Args args = load_args(folder.top().args(), comparison_format);
    request_ = args.request;
    const std::string path = folder.top().args().string();
    const Index jobs = settings_.jobs;
    try {
      chosen_ = args.more.at("methods").get<std::vector<std::string>>();
      methods_ = fmt::format("{}", fmt::join(chosen_, ","));
      chosen_ = parse_methods(methods_);
      repeats_ = args.more.at("repeats");
      paper_ = args.more.at("paper");
      if (repeats_ < 1) throw OptionError(fmt::format("repeats is {}", repeats_));
      if (paper_ != "auto" && paper_ != "none") paper_table(paper_);
      for (const char* key : {"methods", "repeats", "paper"}) args.more.erase(key);
      settings_.read(args.more);
      expect_grid();
    } catch (const Json::exception&) {
      throw DataError(fmt::format("{}: is not whole", path));
    } catch (const OptionError& error) {
      throw DataError(fmt::format("{}: {}", path, error.what()));
    }
    settings_.jobs = jobs;
    Material material = prepare(request_, console);
    return compared(material, folder, args.command, console);
  }

  Result compared(Material& material, const ComparisonFolder& folder,
                  const std::vector<std::string>& command, Console& console) {
    console.log_to(folder.top().log());
    const SceneInfo& scene = material.source->info();
    const PaperTable* paper = paper_ == "none"   ? nullptr
                              : paper_ == "auto" ? paper_table(scene.rows, scene.cols, scene.bands)
                                                 : &paper_table(paper_);
    std::vector<Split> all;
    std::map<std::pair<Index, std::string>, Cell> known;  // before anything is written
    for (Index repeat = 1; repeat <= repeats_; ++repeat) {
      all.push_back(
          read_split(folder.split(repeat).split().string(), material.labels, request_.labels.path));
      for (const std::string& method : chosen_) {
        const fs::path path = ComparisonFolder::result(folder.cell(repeat, method));
        if (fs::exists(path)) known[{repeat, method}] = load_cell(path, repeat, method);
      }
    }
    Json splits = Json::array();
    std::vector<Cell> cells;
    try {
      for (Index repeat = 1; repeat <= repeats_; ++repeat) {
        material.use(all[static_cast<size_t>(repeat - 1)], request_,
                     folder.split(repeat).split().string());
        splits.push_back({{"rule", material.split.rule},
                          {"sha256", material.split.hash()},
                          {"train", material.split.train.size()},
                          {"test", material.split.test.size()}});
        for (const std::string& method : chosen_) {
          const auto found = known.find({repeat, method});
          if (found != known.end()) {
            cells.push_back(found->second);
            continue;
          }
          cells.push_back(
              make_cell(repeat, method, material, folder.cell(repeat, method), command, console));
          save(folder, cells, paper);
        }
      }
      save(folder, cells, paper);
    } catch (const Interrupted&) {
      console.warn(fmt::format("stopped; go on with: hyperatom compare --resume {}",
                               folder.top().path().string()));
      throw;
    }
    Result result = tables(folder, cells, splits, paper, scene);
    if (report_) {
      material.use(all.front(), request_, folder.split(1).split().string());
      append_page(result, page(folder, cells, paper, material, command, console));
    }
    return result;
  }

  /// With the maps of the models of the first split.
  Result page(const ComparisonFolder& folder, const std::vector<Cell>& cells,
              const PaperTable* paper, Material& material, const std::vector<std::string>& command,
              Console& console) const {
    const Scene scene = read_all(*material.source);
    const Labels truth = merged(material.labels, material.truth);
    std::vector<Model> models;
    for (const std::string& method : chosen_)
      models.push_back(load_model(folder.cell(1, method).model()));
    Progress progress(console, "mapping",
                      static_cast<double>(scene.info.pixels()) * static_cast<double>(models.size()),
                      "pixels");
    const std::string name = fs::path(scene.info.path).filename().string();
    const ComparisonReport content{
        .heading = make_heading(fmt::format("{}: {} methods", name, models.size()),
                                request_.options.seed, command),
        .scene = scene,
        .truth = truth,
        .split = material.split,
        .cells = cells,
        .paper = paper,
        .models = models};
    const ReportPage made =
        make_page(content, viewer_page(), ReportRequest{}.max_bytes(), [&](Index rows) {
          progress.update(static_cast<double>(rows * scene.info.cols));
          return !interrupted();
        });
    if (interrupted()) throw Interrupted();
    return save_page(made, folder.top().report());
  }

  Cell make_cell(Index repeat, const std::string& method, Material& material,
                 const RunFolder& folder, const std::vector<std::string>& command,
                 Console& console) {
    const MadeFolder made(folder.path());
    TrainRequest request = request_for(request_, find_method(method));
    request.options.seed += static_cast<std::uint64_t>(repeat - 1);
    const Grid grid = settings_.grid_for(request, true);
    const Tuned tuned = tune_settings(request, grid, settings_, material, folder.trials(), console);
    write_text(folder.table(), tuned.csv());
    request = with(request, tuned.best());
    Cell cell;
    cell.method = method;
    cell.repeat = repeat;
    for (const auto& [option, value] : tuned.best().chosen())
      cell.settings += fmt::format("{}{} {}", cell.settings.empty() ? "" : " ", option, value);

    const auto start = std::chrono::steady_clock::now();
    Model model = fit(find_method(method), material.samples(request.window).samples,
                      request.options, [] { return !interrupted(); });
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (interrupted()) throw Interrupted();
    complete(model, material, request, command);
    save_model(model, folder.model());
    const Tested tested = test(model, material, console);
    tested.accuracy.save(folder);
    // What no method could have learned is not held against any.
    const Confusion confusion =
        tested.accuracy.confusion_of_known().value_or(tested.accuracy.confusion);
    cell.overall = confusion.overall();
    cell.average = confusion.average();
    cell.kappa = confusion.kappa();
    cell.leakage = tested.accuracy.leakage.value_or(0);
    cell.atoms = model.atoms();
    cell.window = model.window;
    cell.tune_seconds = tuned.seconds;
    cell.train_seconds = taken.count();
    cell.classify_seconds = tested.seconds;
    console.say(fmt::format("split {} of {}, {}: OA {:.2f} %, AA {:.2f} % ({})", repeat, repeats_,
                            method, 100 * cell.overall, 100 * cell.average, cell.settings));
    write_json(ComparisonFolder::result(folder), to_json(cell));  // last: the cell is whole
    return cell;
  }

  static void save(const ComparisonFolder& folder, const std::vector<Cell>& cells,
                   const PaperTable* paper) {
    const auto summaries = summarize(cells);
    write_text(folder.table("md"), to_markdown(summaries, paper));
    write_text(folder.table("csv"), to_csv(summaries, paper));
    write_text(folder.table("tex"), to_latex(summaries, paper));
    write_text(folder.cells(), to_csv(cells));
  }

  Result tables(const ComparisonFolder& folder, const std::vector<Cell>& cells, const Json& splits,
                const PaperTable* paper, const SceneInfo& scene) {
    const auto summaries = summarize(cells);
    Json json = {{"folder", folder.top().path().string()},
                 {"scene", scene.path},
                 {"repeats", repeats_},
                 {"tuning", settings_.folds.to_string()},
                 {"splits", splits},
                 {"paper", paper != nullptr ? Json(paper->title) : Json(nullptr)},
                 {"methods", Json::array()}};
    for (const MethodSummary& summary : summaries) {
      Json each = {{"method", summary.method},
                   {"overall", to_json(summary.overall)},
                   {"average", to_json(summary.average)},
                   {"kappa", to_json(summary.kappa)},
                   {"leakage", to_json(summary.leakage)},
                   {"atoms", to_json(summary.atoms)},
                   {"tune_seconds", to_json(summary.tune_seconds)},
                   {"train_seconds", to_json(summary.train_seconds)},
                   {"classify_seconds", to_json(summary.classify_seconds)},
                   {"paper", nullptr},
                   {"cells", Json::array()}};
      if (paper != nullptr)
        each["paper"] = {{"overall", paper->row(summary.method).overall / 100},
                         {"average", paper->row(summary.method).average / 100}};
      for (const Cell& cell : cells)
        if (cell.method == summary.method) each["cells"].push_back(to_json(cell));
      json["methods"].push_back(each);
    }
    write_json(folder.table("json"), json);
    std::string text = to_markdown(summaries, paper);
    if (paper != nullptr) text += fmt::format("paper: {}\n", paper->title);
    text += fmt::format("{} split{}: {}; tuned on {} of the training pixels\n", repeats_,
                        repeats_ == 1 ? "" : "s", splits[0]["rule"].get<std::string>(),
                        settings_.folds.to_string());
    text +=
        fmt::format("tables, models and all that was tried: {}\n", folder.top().path().string());
    return {json, text};
  }

  TrainRequest request_;
  SplitInput rule_;
  TuneSettings settings_;
  std::string methods_ = "all", paper_ = "auto", folder_, resume_;
  std::vector<std::string> chosen_;
  Index repeats_ = 1;
  bool report_ = false, overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_compare() { return std::make_unique<Compare>(); }

}  // namespace hyperatom::cli
