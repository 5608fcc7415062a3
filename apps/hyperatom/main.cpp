// The `hyperatom` command: reads the command line, runs a verb, prints its result, and turns every
// failure into a message and an exit code.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <optional>
#include <sstream>

#include "apps/hyperatom/interrupt.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "apps/hyperatom/suggest.hpp"
#include "apps/hyperatom/verb.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"

namespace hyperatom::cli {
namespace {

enum ExitCode { done = 0, usage = 2, data = 3, numerical = 4, resources = 5, stopped = 130 };

/// The flags that every verb has.
struct Flags {
  Index threads = 0;
  std::uint64_t seed = 0;
  bool json = false;
  bool quiet = false;
};

struct Entry {
  std::unique_ptr<Verb> verb;
  CLI::App* app = nullptr;
};

std::vector<Entry> declare_verbs(CLI::App& app, Flags& flags) {
  std::vector<Entry> entries;
  for (auto* make : {make_info, make_synth, make_demo, make_split_verb, make_train, make_tune,
                     make_classify, make_evaluate, make_explain, make_compare, make_report}) {
    auto verb = make();
    CLI::App* sub = app.add_subcommand(verb->name(), verb->summary());
    sub->footer("Example:\n  " + verb->example());
    Arguments arguments(*sub);
    verb->declare(arguments);
    arguments.option({.name = "threads",
                      .value = &flags.threads,
                      .help = "threads to use; 0: as many as there are cores",
                      .lowest = 0,
                      .highest = 1024});
    arguments.option({.name = "seed", .value = &flags.seed, .help = "fixes everything random"});
    arguments.flag("json", flags.json, "print the result as one JSON object");
    arguments.flag("quiet", flags.quiet, "say nothing but warnings and the result");
    entries.push_back({std::move(verb), sub});
  }
  return entries;
}

/// A flag or verb that does not exist is answered before anything that is missing, and with what
/// was probably meant.
void expect_known(CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with("-")) return;
  CLI::App* verb = nullptr;
  std::vector<std::string> verbs;
  for (CLI::App* each : app.get_subcommands(nullptr)) {
    if (each->get_name() == words[0]) verb = each;
    verbs.push_back(each->get_name());
  }
  if (verb == nullptr)
    throw OptionError(fmt::format("unknown verb '{}'{}", words[0], suggestion(words[0], verbs)));
  std::vector<std::string> names;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.size() < 3 || !flag.starts_with("--")) continue;
    const CLI::Option* option = verb->get_option_no_throw(flag);
    if (option == nullptr)
      throw OptionError(
          fmt::format("{}: unknown option {}{}", words[0], flag, suggestion(flag, names)));
    if (flag != word && option->get_items_expected_max() == 0)
      throw OptionError(fmt::format("{}: {} takes no value, found '{}'", words[0], flag, word));
  }
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw IoError("standard output can't be written");
}

/// What CLI11 found wrong with words that expect_known() let pass.
[[noreturn]] void refuse(const CLI::App& app, const std::vector<std::string>& words,
                         const CLI::ParseError& error) {
  if (words[0].starts_with("-"))
    throw OptionError(
        fmt::format("unexpected '{}', expected a verb; hyperatom --help lists them", words[0]));
  const std::string verb = words[0] + ": ";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    throw OptionError(fmt::format("{}unexpected '{}'", verb, app.remaining(true).front()));
  throw OptionError(verb + error.what());
}

ExitCode run(const std::vector<std::string>& words) {
  CLI::App app("Classifies hyperspectral images from few labelled pixels.", "hyperatom");
  app.set_version_flag("--version", "hyperatom " HYPERATOM_VERSION);
  app.footer("hyperatom VERB --help tells more. Begin with: hyperatom demo");
  app.require_subcommand(1);
  Flags flags;
  const std::vector<Entry> verbs = declare_verbs(app, flags);
  expect_known(app, words);
  if (words.empty()) throw OptionError("a verb is needed\n\n" + app.help());
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    print(text.str());
    return done;
  } catch (const CLI::ParseError& error) {
    refuse(app, words, error);
  }
  Console console(flags.quiet);
  watch_for_interrupts();
  std::optional<ThreadLimit> limit;
  if (flags.threads > 0) limit.emplace(static_cast<int>(flags.threads));
  for (const Entry& entry : verbs)
    if (entry.app->parsed()) {
      const Result result = entry.verb->run({words, flags.seed}, console);
      print(flags.json ? to_text(result.json) : result.text);
    }
  return done;
}

ExitCode fail(ExitCode code, const std::string& message) {
  write_error(fmt::format("hyperatom: {}\n", message));
  return code;
}

ExitCode guarded_run(const std::vector<std::string>& words) {
  try {
    return run(words);
  } catch (const OptionError& error) {
    return fail(usage, error.what());
  } catch (const DataError& error) {
    return fail(data, error.what());
  } catch (const NumericalError& error) {
    return fail(numerical, error.what());
  } catch (const IoError& error) {
    return fail(resources, error.what());
  } catch (const std::bad_alloc&) {
    return fail(resources, "out of memory");
  } catch (const Interrupted&) {
    return fail(stopped, "interrupted");
  } catch (const std::exception& error) {
    return fail(resources, fmt::format("unexpected: {}", error.what()));
  }
}

/// The next file to be opened would take the place of a standard stream that is closed, and what is
/// printed would go into that file.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);  // writing still fails
}

}  // namespace
}  // namespace hyperatom::cli

int main(int argc, char** argv) {
  hyperatom::cli::fill_standard_streams();
  return hyperatom::cli::guarded_run(std::vector<std::string>(argv + 1, argv + argc));
}
