// What pages of all kinds are made of: a JSON document, and layers of pixels as blocks of bytes.
//
// viewer/src/data.ts reads it, schemas/report-document.schema.json describes it.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyperatom/eval/confusion.hpp"
#include "hyperatom/report/page.hpp"
#include "hyperatom/scene/scene.hpp"
#include "hyperatom/scene/split.hpp"

namespace hyperatom {

/// What a page says of itself.
struct Heading {
  std::string title;
  std::string program;  ///< and its version
  std::string date;     ///< ISO 8601, UTC
  std::string command;
  std::optional<std::uint64_t> seed = {};
};

struct ReportPage {
  std::string html;
  std::vector<std::string> reduced;  ///< what was left out so that it fits, as sentences
};

/// Names and colours of the classes 1, 2, ...
struct ClassList {
  std::vector<std::string> names;
  std::vector<Colour> colours;

  /// "class 1", ... in colours of their own.
  explicit ClassList(Index classes);
  /// Puts theirs in the place of what was there.
  void name_as(const Labels& labels);
  Index size() const { return static_cast<Index>(names.size()); }
};

/// What JSON has: null for what is not finite.
nlohmann::ordered_json json_number(double value);
nlohmann::ordered_json json_numbers(const Vector& values);

/// `share` of 0 to 1 as the nearest of 0 .. steps.
std::uint8_t quantised(double share, int steps);

/// A byte per pixel.
std::string class_bytes(const std::vector<std::int32_t>& ids);

/// The pixels that a map is judged by: the test pixels, or without a split all that are labelled.
std::vector<Index> judged_pixels(const Labels& truth, const Split* split);

class Document {
 public:
  using Json = nlohmann::ordered_json;

  /// Throws DataError, naming the scene's file, for more than 255 classes.
  Document(const Heading& heading, const SceneInfo& scene, const ClassList& classes);

  Json json;                      ///< every part that a page can have; null until it is added
  std::vector<PageBlock> blocks;  ///< always in the page

  /// Bytes of every pixel that the map can show.
  void add_layer(const std::string& name, const std::string& bytes);
  void add_classes(const std::string& name, const std::vector<std::int32_t>& ids);
  /// Numbers from 0 to 1; what is not finite has none.
  void add_shares(const std::string& name, const MatrixF& shares);
  void add_composite(const Scene& scene);
  /// `window`: with which the leakage is measured among the valid pixels; 0: not known.
  void add_split(const Split& split, Index window, const std::vector<char>& valid);
  void add_accuracy(const Confusion& confusion, bool split);
  /// Of every class in a map.
  void add_areas(const std::vector<std::int32_t>& ids);

 private:
  Index rows_, cols_, classes_;
  Georeference georeference_;
};

/// A page of at most `most_bytes`. Spectra of the scene are in it as far as it has room: of all
/// pixels, with fewer bands, of the labelled ones; `codes` are what is left out last, together with
/// "codes" and "scores" of the document. Throws DataError, naming the scene, if it can't be made so
/// small.
ReportPage fit_page(Document document, const Scene& scene, const Labels* truth,
                    const std::vector<PageBlock>& codes, std::string_view viewer,
                    size_t most_bytes);

/// The same for a page without spectra and codes, of the file `path`.
ReportPage fit_page(const Document& document, const std::string& path, std::string_view viewer,
                    size_t most_bytes);

}  // namespace hyperatom
