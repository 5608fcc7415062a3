// One verb of the command line.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/hyperatom/arguments.hpp"
#include "apps/hyperatom/console.hpp"

namespace hyperatom::cli {

using Json = nlohmann::ordered_json;

/// What every verb is told.
struct Common {
  std::vector<std::string> command;  ///< the words typed
  std::uint64_t seed = 0;
};

/// What a verb found out: for a program (--json) and for a person.
struct Result {
  Json json;
  std::string text;
};

class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  /// A command line that works.
  virtual std::string example() const = 0;
  virtual void declare(Arguments& arguments) = 0;
  virtual Result run(const Common& common, Console& console) = 0;
};

std::unique_ptr<Verb> make_info();
std::unique_ptr<Verb> make_synth();
std::unique_ptr<Verb> make_demo();
std::unique_ptr<Verb> make_split_verb();
std::unique_ptr<Verb> make_train();
std::unique_ptr<Verb> make_tune();
std::unique_ptr<Verb> make_classify();
std::unique_ptr<Verb> make_evaluate();
std::unique_ptr<Verb> make_explain();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_report();

}  // namespace hyperatom::cli
