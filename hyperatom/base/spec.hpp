// The text form of a kernel or a loss: `gaussian(sigma=0.05)`, `linear`.
//
// Grammar: name [ "(" [ key "=" number { "," key "=" number } ] ")" ], blanks allowed between
// tokens. to_string() prints the shortest numbers that read back to the same bits, so that
// parse(to_string(spec)) == spec.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hyperatom {

struct Spec {
  std::string name;
  std::vector<std::pair<std::string, double>> parameters;

  /// Throws OptionError when the text does not follow the grammar.
  static Spec parse(std::string_view text);
  std::string to_string() const;

  bool operator==(const Spec&) const = default;
};

/// Reads the parameters of one spec and, at the end, refuses those that nobody asked for.
class SpecReader {
 public:
  explicit SpecReader(const Spec& spec) : spec_(spec) {}

  /// The value of a parameter that must be present.
  double require(std::string_view key);
  /// The value of a parameter, or `fallback` where it is absent.
  double get(std::string_view key, double fallback);
  /// Throws OptionError unless every parameter of the spec has been read.
  void finish() const;

  /// Throws OptionError "<spec>: <key> must be <expected>, not <value>" unless `holds`.
  void expect(bool holds, std::string_view key, std::string_view expected) const;

 private:
  const double* find(std::string_view key);

  const Spec& spec_;
  std::vector<std::string> known_;
};

/// "a, b, c": for messages that list what is known.
std::string join(const std::vector<std::string>& names);

}  // namespace hyperatom
