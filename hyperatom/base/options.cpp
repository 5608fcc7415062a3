#include "hyperatom/base/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

using Json = nlohmann::json;

Json json_of(const Field& field) {
  return std::visit(
      [](auto* value) -> Json {
        if constexpr (std::is_same_v<decltype(value), Spec*>)
          return value->to_string();
        else
          return *value;
      },
      field.value);
}

bool holds(const Field& field) {
  return std::visit(
      [&](auto* value) {
        using Type = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, std::string>) {
          const auto& names = field.choices;
          return names.empty() || std::find(names.begin(), names.end(), *value) != names.end();
        } else if constexpr (std::is_same_v<Type, double> || std::is_same_v<Type, Index>) {
          const double number = static_cast<double>(*value);
          const bool low = field.above_lowest ? number > field.lowest : number >= field.lowest;
          return low && number <= field.highest && std::isfinite(number);
        } else {
          return true;
        }
      },
      field.value);
}

template <class Type>
const char* type_name() {
  if constexpr (std::is_same_v<Type, double>) return "a number";
  if constexpr (std::is_same_v<Type, bool>) return "true or false";
  if constexpr (std::is_same_v<Type, Index>) return "a whole number";
  if constexpr (std::is_same_v<Type, std::uint64_t>) return "a whole number, 0 or greater";
  return "a text";
}

/// All of the text as one value, or nothing.
template <class Type>
std::optional<Type> parse(const std::string& text) {
  if constexpr (std::is_same_v<Type, bool>) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
  } else {
    Type value{};
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
  }
}

void read(const Json& json, const Field& field) {
  std::visit(
      [&](auto* value) {
        using Type = std::remove_pointer_t<decltype(value)>;
        const auto expect = [&](bool holds) {
          if (!holds)
            throw OptionError(
                fmt::format("{} must be {}, not {}", field.name, type_name<Type>(), json.dump()));
        };
        if constexpr (std::is_same_v<Type, double>)
          expect(json.is_number());
        else if constexpr (std::is_same_v<Type, bool>)
          expect(json.is_boolean());
        else if constexpr (std::is_same_v<Type, Index>)
          expect(json.is_number_integer());
        else if constexpr (std::is_same_v<Type, std::uint64_t>)
          expect(json.is_number_unsigned());
        else
          expect(json.is_string());
        if constexpr (std::is_same_v<Type, Spec>)
          *value = Spec::parse(json.get<std::string>());
        else
          *value = json.get<Type>();
      },
      field.value);
}

}  // namespace

std::string Field::expected() const {
  if (!choices.empty()) return "one of " + join(choices);
  std::string text;
  if (std::isfinite(lowest))
    text =
        above_lowest ? fmt::format("greater than {}", lowest) : fmt::format("at least {}", lowest);
  if (std::isfinite(highest))
    text += fmt::format("{}at most {}", text.empty() ? "" : " and ", highest);
  return text.empty() ? "a finite number" : text;
}

std::string Field::text() const { return json_of(*this).dump(); }

void validate(const Fields& fields) {
  for (const Field& field : fields)
    if (!holds(field))
      throw OptionError(
          fmt::format("{} must be {}, not {}", field.name, field.expected(), field.text()));
}

void set(const Field& field, const std::string& text) {
  std::visit(
      [&](auto* value) {
        using Type = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, std::string>)
          *value = text;
        else if constexpr (std::is_same_v<Type, Spec>)
          *value = Spec::parse(text);
        else if (const auto parsed = parse<Type>(text))
          *value = *parsed;
        else
          throw OptionError(
              fmt::format("{} must be {}, not '{}'", field.name, type_name<Type>(), text));
      },
      field.value);
}

std::string to_json(const Fields& fields) {
  Json json = Json::object();
  for (const Field& field : fields) json[field.name] = json_of(field);
  return json.dump();
}

void from_json(const std::string& text, const Fields& fields) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    throw OptionError("the options are not a JSON object: " + text.substr(0, 60));
  for (const Field& field : fields) {
    const auto found = json.find(field.name);
    if (found == json.end()) continue;
    read(*found, field);
    json.erase(found);
  }
  if (!json.empty()) throw OptionError(fmt::format("unknown option '{}'", json.begin().key()));
  validate(fields);
}

}  // namespace hyperatom
