#include "apps/hyperatom/arguments.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {
namespace {

/// "weight of the joint sparsity (lambda_1; greater than 0)"
std::string description(const Field& field) {
  std::string inside = field.symbol;
  if (const std::string range = field.expected(); range != "a finite number")
    inside += (inside.empty() ? "" : "; ") + range;
  return inside.empty() ? field.help : fmt::format("{} ({})", field.help, inside);
}

const char* type_of(const Field& field) {
  constexpr const char* names[] = {"NUMBER", "COUNT", "COUNT", "", "TEXT", "SPEC"};
  return names[field.value.index()];
}

/// An empty text is a slip, of a script's variable for example: it must not stand for "none".
void expect_text(const std::string& name, const std::string& text) {
  if (text.empty()) throw OptionError(name + " must not be empty");
}

/// A value out of range stands for "not given".
bool in_range(const Field& field) {
  try {
    validate(Fields{field});
  } catch (const OptionError&) {
    return false;
  }
  return true;
}

/// As a user of the command line knows it.
void set_option(const Field& field, const std::string& text) {
  if (std::holds_alternative<std::string*>(field.value) && field.choices.empty())
    expect_text("--" + field.name, text);
  try {
    set(field, text);
  } catch (const OptionError& error) {
    const std::string what = error.what();
    const bool named = what.starts_with(field.name + " ");
    throw OptionError(named ? "--" + what : fmt::format("--{}: {}", field.name, what));
  }
  try {
    validate(Fields{field});
  } catch (const OptionError&) {
    throw OptionError(fmt::format("--{} must be {}, not '{}'", field.name, field.expected(), text));
  }
}

}  // namespace

void Arguments::word(const std::string& name, std::string& value, const std::string& help,
                     Need need) {
  const auto set = [name, &value](const std::string& text) {
    expect_text(name, text);
    value = text;
  };
  app_.add_option_function<std::string>(name, set, help)
      ->required(need == Need::required)
      ->type_name("");
}

void Arguments::option(const Field& field, char letter, Need need) {
  const std::string names =
      letter == 0 ? "--" + field.name : fmt::format("-{},--{}", letter, field.name);
  auto* option = app_.add_option_function<std::string>(
      names, [field](const std::string& text) { set_option(field, text); }, description(field));
  option->required(need == Need::required)->type_name(type_of(field));
  std::string value = field.text();
  std::erase(value, '"');
  if (need == Need::optional && !value.empty() && in_range(field)) option->default_str(value);
}

void Arguments::options(const Fields& fields, std::set<std::string>& given,
                        const std::set<std::string>& chosen) {
  for (const Field& field : fields) {
    if (!std::holds_alternative<bool*>(field.value)) {
      option(field);
      if (chosen.contains(field.name))
        app_.get_option("--" + field.name)->default_str("chosen from the data");
      app_.get_option("--" + field.name)->each([field, &given](const std::string&) {
        given.insert(field.name);
      });
      continue;
    }
    bool* value = std::get<bool*>(field.value);
    app_.add_flag_callback(
        fmt::format("--{}{}", *value ? "no-" : "", field.name),
        [field, value, turned = !*value, &given] {
          *value = turned;
          given.insert(field.name);
        },
        (*value ? "don't " : "") + field.help);
  }
}

void Arguments::flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag("--" + name, value, help);
}

void Arguments::list(const std::string& name, std::vector<std::string>& values,
                     const std::string& help, const char* type) {
  app_.add_option("--" + name, values, help)->expected(1)->take_all()->type_name(type);
}

}  // namespace hyperatom::cli
