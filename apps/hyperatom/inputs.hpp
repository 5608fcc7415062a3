// The scene and the labels that several verbs read, with the flags that say how.
#pragma once

#include <memory>
#include <string>

#include "apps/hyperatom/verb.hpp"
#include "hyperatom/io/label_reader.hpp"
#include "hyperatom/io/raster_writer.hpp"
#include "hyperatom/io/scene_reader.hpp"
#include "hyperatom/learn/model.hpp"
#include "hyperatom/scene/split.hpp"

namespace hyperatom::cli {

struct SceneInput {
  std::string path = {};
  std::string variable = {};
  std::string mask = {};

  /// SCENE --variable --mask
  void declare(Arguments& arguments, Arguments::Need need = Arguments::Need::required);
  /// Tells what the reader guessed or left out.
  std::unique_ptr<SceneSource> open(Console& console) const;
};

struct LabelInput {
  std::string path = {};
  std::string variable = {};
  std::string class_field = {};
  bool all_touched = false;
  std::string crs = "file";

  /// --labels and the flags below.
  void declare(Arguments& arguments, Arguments::Need need);
  /// --label-variable --class-field --all-touched --label-crs
  void declare_details(Arguments& arguments);
  LabelsRead read(const SceneInfo& scene, Console& console) const;

 private:
  LabelOptions options() const;
};

/// How labelled pixels are divided: --train --fraction --per-class --blocks --polygons --buffer.
struct SplitInput {
  Index train = 0;
  double fraction = 0;
  Index per_class = 0;
  Index block = 0;
  bool polygons = false;
  Index buffer = 0;

  void declare(Arguments& arguments);
  bool anything() const;
  /// Throws OptionError unless they agree.
  SplitRule rule(std::uint64_t seed) const;
};

/// What is wrong with the options and the labels in the words of the command.
Split divide(const Labels& labels, const SplitRule& rule, const std::string& labels_path);

/// A raster that a verb writes: --of, --co, --overwrite.
struct RasterOutput {
  std::string format = "GTiff";
  std::vector<std::string> creation = {};
  bool overwrite = false;

  void declare(Arguments& arguments);
  RasterOptions options() const { return {format, creation, overwrite}; }
};

/// A file that a verb makes: the option that names it, and what appears beside it.
struct MadeFile {
  const char* option = "--output";
  std::string path = {};
  bool header = false;  ///< that of ENVI
  bool style = false;   ///< the .qml of a class map
};

/// Throws OptionError if one of them would replace another, or a file that is read: no --overwrite
/// can mean that.
void expect_apart(const std::vector<MadeFile>& made, const std::vector<std::string>& read);

/// A split file that goes with these labels. Throws DataError naming both files otherwise.
Split read_split(const std::string& path, const Labels& labels, const std::string& labels_path);

/// A model file, or the one in a run folder.
std::filesystem::path model_path(const std::string& path);

/// The numbers of "12,40" for ','; nothing when a part is not a whole number.
std::vector<Index> whole_numbers(const std::string& text, char separator);

/// "3,921": thousands set apart.
std::string grouped(Index number);

/// [{"id": 1, "name": "name", "pixels": 17}, ...]
Json class_list(const Labels& labels);

/// "name (17), other name (3)"
std::string class_counts(const Labels& labels);

}  // namespace hyperatom::cli
