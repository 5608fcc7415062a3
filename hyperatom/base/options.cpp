#include "hyperatom/base/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
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
          return low && number <= field.highest;  // false for a NaN
        } else {
          return true;
        }
      },
      field.value);
}

void read(const Json& json, const Field& field) {
  const auto refuse = [&](const char* type) {
    throw OptionError(fmt::format("{} must be {}, not {}", field.name, type, json.dump()));
  };
  std::visit(
      [&](auto* value) {
        using Type = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, double>) {
          if (!json.is_number()) refuse("a number");
          *value = json.get<double>();
        } else if constexpr (std::is_same_v<Type, bool>) {
          if (!json.is_boolean()) refuse("true or false");
          *value = json.get<bool>();
        } else if constexpr (std::is_same_v<Type, Index>) {
          if (!json.is_number_integer()) refuse("a whole number");
          *value = json.get<Index>();
        } else if constexpr (std::is_same_v<Type, std::uint64_t>) {
          if (!json.is_number_unsigned()) refuse("a whole number, 0 or greater");
          *value = json.get<std::uint64_t>();
        } else {
          if (!json.is_string()) refuse("a text");
          if constexpr (std::is_same_v<Type, Spec>)
            *value = Spec::parse(json.get<std::string>());
          else
            *value = json.get<std::string>();
        }
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
  return text.empty() ? "a number" : text;
}

std::string Field::text() const { return json_of(*this).dump(); }

void validate(const Fields& fields) {
  for (const Field& field : fields)
    if (!holds(field))
      throw OptionError(
          fmt::format("{} must be {}, not {}", field.name, field.expected(), field.text()));
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
