#include "apps/hyperatom/inputs.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "apps/hyperatom/run_folder.hpp"
#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

void tell(Console& console, const std::string& path, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) console.say(fmt::format("{}: {}", path, note));
}

/// It and what belongs to it, each by a name that no other file has.
std::vector<fs::path> files_of(const MadeFile& made) {
  if (made.path.empty()) return {};
  const fs::path path = made.path;
  std::vector<fs::path> files = {path, fs::path(path) += ".aux.xml"};
  if (made.header) files.push_back(fs::path(path).replace_extension(".hdr"));
  if (made.header) files.push_back(fs::path(path) += ".hdr");
  if (made.style) files.push_back(fs::path(path).replace_extension(".qml"));
  std::error_code error;
  for (fs::path& file : files)
    if (const fs::path canonical = fs::weakly_canonical(fs::absolute(file, error), error); !error)
      file = canonical;
  return files;
}

}  // namespace

void SceneInput::declare(Arguments& arguments, Arguments::Need need) {
  arguments.word("scene", path, "the scene: ENVI, GeoTIFF, ERDAS, MATLAB, NumPy, ...", need);
  arguments.option({.name = "variable",
                    .value = &variable,
                    .help = "of a .mat file: the array that is the scene"});
  arguments.option({.name = "mask",
                    .value = &mask,
                    .help = "a raster of the scene's size: pixels that are 0 there are left out"});
}

std::unique_ptr<SceneSource> SceneInput::open(Console& console) const {
  auto source = open_scene(path, {.variable = variable, .mask = mask});
  tell(console, path, source->info().notes);
  return source;
}

void LabelInput::declare(Arguments& arguments, Arguments::Need need) {
  arguments.option(
      {.name = "labels",
       .value = &path,
       .help = "the labels: a raster of the scene's size, or vector polygons or points"},
      0, need);
  declare_details(arguments);
}

void LabelInput::declare_details(Arguments& arguments) {
  arguments.option({.name = "label-variable",
                    .value = &variable,
                    .help = "of a .mat file: the array that holds the labels"});
  arguments.option({.name = "class-field",
                    .value = &class_field,
                    .help = "of vector labels: the field that holds the class"});
  arguments.flag(
      "all-touched", all_touched,
      "vector labels cover every pixel they touch, not only those whose centre they cover");
  arguments.option({.name = "label-crs",
                    .value = &crs,
                    .help = "where vector labels without a CRS lie: \"scene\" takes the scene's",
                    .choices = {"file", "scene"}});
}

LabelOptions LabelInput::options() const {
  return {.variable = variable,
          .class_field = class_field,
          .all_touched = all_touched,
          .crs_is_scene = crs == "scene"};
}

LabelsRead LabelInput::read(const SceneInfo& scene, Console& console) const {
  LabelsRead result = read_labels(path, scene, options());
  tell(console, path, result.notes);
  return result;
}

void SplitInput::declare(Arguments& arguments) {
  arguments.option({.name = "train",
                    .value = &train,
                    .help = "training pixels in all, divided among the classes by their sizes",
                    .lowest = 1});
  arguments.option({.name = "fraction",
                    .value = &fraction,
                    .help = "share of every class that is for training",
                    .lowest = 0,
                    .highest = 1,
                    .above_lowest = true});
  arguments.option({.name = "per-class",
                    .value = &per_class,
                    .help = "training pixels of every class",
                    .lowest = 1});
  arguments.option({.name = "blocks",
                    .value = &block,
                    .help = "keep the two apart: whole blocks of this many pixels a side",
                    .lowest = 1});
  arguments.flag("polygons", polygons, "keep the two apart: whole polygons of vector labels");
  arguments.option({.name = "buffer",
                    .value = &buffer,
                    .help = "with blocks or polygons: leave out test pixels this close to training",
                    .lowest = 0,
                    .highest = 10000});
}

bool SplitInput::anything() const {
  return train > 0 || fraction > 0 || per_class > 0 || block > 0 || polygons || buffer > 0;
}

SplitRule SplitInput::rule(std::uint64_t seed) const {
  using Kind = SplitRule::Kind;
  if (polygons && block > 0)
    throw OptionError("--polygons and --blocks exclude each other: give one of them");
  if (buffer > 0 && !polygons && block == 0)
    throw OptionError("--buffer needs --blocks or --polygons");
  if ((train > 0) + (fraction > 0) + (per_class > 0) != 1)
    throw OptionError("a split needs exactly one of --train, --fraction and --per-class");
  SplitRule result{.kind = polygons    ? Kind::polygons
                           : block > 0 ? Kind::blocks
                                       : Kind::random,
                   .block = block,
                   .buffer = buffer,
                   .seed = seed};
  if (train > 0) result.train = train;
  if (fraction > 0) result.fraction = fraction;
  if (per_class > 0) result.per_class = per_class;
  return result;
}

Split divide(const Labels& labels, const SplitRule& rule, const std::string& labels_path) {
  try {
    return make_split(labels, rule);
  } catch (const OptionError& error) {
    throw OptionError(fmt::format("--{}", error.what()));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", labels_path, error.what()));
  }
}

void RasterOutput::declare(Arguments& arguments) {
  arguments.option({.name = "of",
                    .value = &format,
                    .help = "format of the rasters, by GDAL's name",
                    .choices = {"GTiff", "ENVI", "COG"}});
  arguments.list("co", creation, "creation option of that format, as for GDAL; may be repeated");
  arguments.flag("overwrite", overwrite, "replace what is there");
}

void expect_apart(const std::vector<MadeFile>& made, const std::vector<std::string>& read) {
  std::map<fs::path, std::string> known;  // what every file is
  for (const std::string& path : read)
    for (const fs::path& file : files_of({.path = path, .header = true}))
      known.emplace(file, "the input " + path);
  for (const MadeFile& each : made) {
    for (const fs::path& file : files_of(each))
      if (const auto found = known.find(file); found != known.end())
        throw OptionError(fmt::format("{} {} would replace {}, which belongs to {}", each.option,
                                      each.path, file.filename().string(), found->second));
    for (const fs::path& file : files_of(each))
      known.emplace(file, fmt::format("{} {}", each.option, each.path));
  }
}

Split read_split(const std::string& path, const Labels& labels, const std::string& labels_path) {
  Split split = load_split(path);
  if (split.rows != labels.rows || split.cols != labels.cols)
    throw DataError(fmt::format("{}: is for {} x {} pixels (rows x columns), {} has {} x {}", path,
                                split.rows, split.cols, labels_path, labels.rows, labels.cols));
  return split;
}

fs::path model_path(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  const fs::path model = RunFolder(path).model();
  if (!fs::exists(model, error))
    throw DataError(
        fmt::format("{}: no such file; expected that of a run which has come to its end (hyperatom "
                    "train --resume {} goes on with one that has not)",
                    model.string(), path));
  return model;
}

std::vector<Index> whole_numbers(const std::string& text, char separator) {
  std::vector<Index> numbers;
  std::istringstream parts(text);
  try {
    for (std::string part; std::getline(parts, part, separator);)
      set({.name = "", .value = &numbers.emplace_back()}, part);
  } catch (const OptionError&) {
    return {};
  }
  return numbers;
}

std::string grouped(Index number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

Json class_list(const Labels& labels) {
  Json list = Json::array();
  const std::vector<Index> counts = labels.counts();
  for (size_t c = 0; c < counts.size(); ++c)
    list.push_back({{"id", c + 1}, {"name", labels.names[c]}, {"pixels", counts[c]}});
  return list;
}

std::string class_counts(const Labels& labels) {
  std::vector<std::string> parts;
  const std::vector<Index> counts = labels.counts();
  for (size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) parts.push_back(fmt::format("{} ({})", labels.names[c], grouped(counts[c])));
  return join(parts);
}

}  // namespace hyperatom::cli
