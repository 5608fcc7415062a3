// One description of an options aggregate drives validation, JSON, the command line and the docs.
//
// An aggregate describes itself by a member `Fields fields()`: a list of its fields, each with its
// name, its range and a pointer to its value.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "hyperatom/base/spec.hpp"
#include "hyperatom/base/types.hpp"

namespace hyperatom {

struct Field {
  using Value = std::variant<double*, Index*, std::uint64_t*, bool*, std::string*, Spec*>;

  std::string name;  ///< kebab-case: `--name`, and the JSON key
  Value value;
  std::string help = {};
  std::string symbol = {};  ///< the paper's symbol, if it has one
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool above_lowest = false;              ///< `lowest` itself is excluded
  std::vector<std::string> choices = {};  ///< of a string; empty: any

  /// "greater than 0 and at most 1", "one of adam, sgd".
  std::string expected() const;
  /// The value as JSON text.
  std::string text() const;
};

using Fields = std::vector<Field>;

/// Throws OptionError "<name> must be <expected>, not <value>" for the first field out of its
/// range.
void validate(const Fields& fields);

/// Sets a field from what a user typed: a number, `true` or `false`, a spec, a text. Throws
/// OptionError "<name> must be <expected>, not '<text>'".
void set(const Field& field, const std::string& text);

/// The text of one JSON object. Numbers read back to the same bits.
std::string to_json(const Fields& fields);

/// The reverse: absent keys keep their value, unknown ones are an OptionError. The result is
/// validated.
void from_json(const std::string& text, const Fields& fields);

}  // namespace hyperatom
