// What a command line may say, declared by the verbs and read by CLI11, which stays behind this
// header.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hyperatom/base/options.hpp"

namespace CLI {
class App;
}

namespace hyperatom::cli {

class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  enum class Need { required, optional };

  /// A word without a flag, in the order of declaration.
  void word(const std::string& name, std::string& value, const std::string& help,
            Need need = Need::required);
  /// `--name VALUE`, and `-letter VALUE` unless the letter is 0. A field's range is checked.
  void option(const Field& field, char letter = 0, Need need = Need::optional);
  /// All of them; a bool is a flag that turns it from its default: `--name` or `--no-name`. A name
  /// is added to `given` when it is used. Those in `chosen` have no default: the data decide.
  void options(const Fields& fields, std::set<std::string>& given,
               const std::set<std::string>& chosen = {});
  void flag(const std::string& name, bool& value, const std::string& help);
  /// `--name VALUE`, as often as wanted.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& help,
            const char* type = "NAME=VALUE");

 private:
  CLI::App& app_;
};

}  // namespace hyperatom::cli
