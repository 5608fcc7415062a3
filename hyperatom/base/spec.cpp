#include "hyperatom/base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// A cursor over the text of one spec.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Spec run() {
    Spec spec;
    spec.name = name("a name of lower-case letters, digits, '-' or '_'");
    skip_blanks();
    if (!accept('(')) {
      end();
      return spec;
    }
    skip_blanks();
    if (!accept(')')) {
      do {
        spec.parameters.push_back(parameter(spec));
        skip_blanks();
      } while (accept(','));
      if (!accept(')')) fail("',' or ')'");
    }
    end();
    return spec;
  }

 private:
  std::pair<std::string, double> parameter(const Spec& so_far) {
    std::string key = name("a parameter name");
    const auto same = [&](const auto& p) { return p.first == key; };
    if (std::any_of(so_far.parameters.begin(), so_far.parameters.end(), same))
      throw OptionError(fmt::format("spec '{}': parameter '{}' is given twice", text_, key));
    skip_blanks();
    if (!accept('=')) fail("'='");
    return {std::move(key), number()};
  }

  std::string name(std::string_view expected) {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (at_ == begin) fail(expected);
    return std::string(text_.substr(begin, at_ - begin));
  }

  double number() {
    skip_blanks();
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) fail("a finite number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void end() {
    skip_blanks();
    if (at_ != text_.size()) fail("the end of the spec");
  }

  [[noreturn]] void fail(std::string_view expected) const {
    throw OptionError(fmt::format(
        "spec '{}': expected {} at position {}, found {}", text_, expected, at_ + 1,
        at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_)) : std::string("nothing")));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Spec Spec::parse(std::string_view text) { return Parser(text).run(); }

std::string Spec::to_string() const {
  std::string text = name;
  for (size_t i = 0; i < parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "(" : ",", parameters[i].first, parameters[i].second);
  if (!parameters.empty()) text += ')';
  return text;
}

const double* SpecReader::find(std::string_view key) {
  known_.emplace_back(key);
  for (const auto& [name, value] : spec_.parameters)
    if (name == key) return &value;
  return nullptr;
}

double SpecReader::require(std::string_view key) {
  if (const double* value = find(key)) return *value;
  throw OptionError(fmt::format("spec '{}': parameter '{}' is missing", spec_.to_string(), key));
}

double SpecReader::get(std::string_view key, double fallback) {
  const double* value = find(key);
  return value ? *value : fallback;
}

void SpecReader::finish() const {
  for (const auto& [name, value] : spec_.parameters) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    throw OptionError(fmt::format(
        "spec '{}': unknown parameter '{}'; {}", spec_.to_string(), name,
        known_.empty() ? fmt::format("'{}' takes none", spec_.name) : "known: " + join(known_)));
  }
}

void SpecReader::expect(bool holds, std::string_view key, std::string_view expected) const {
  if (holds) return;
  double found = std::nan("");
  for (const auto& [name, value] : spec_.parameters)
    if (name == key) found = value;
  throw OptionError(
      fmt::format("spec '{}': {} must be {}, not {}", spec_.to_string(), key, expected, found));
}

std::string join(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace hyperatom
