#include "apps/hyperatom/args.hpp"

#include <fmt/format.h>

#include <fstream>

#include "apps/hyperatom/run_folder.hpp"
#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

constexpr int args_schema = 2;

/// "run" of "hyperatom-run".
std::string name_of(const std::string& format) { return format.substr(format.find('-') + 1); }

}  // namespace

Json choices_json(const std::vector<Choice>& choices) {
  Json json = Json::array();
  for (const Choice& choice : choices)
    json.push_back({{"option", choice.option}, {"value", choice.value}, {"reason", choice.reason}});
  return json;
}

void save_args(Args args, const fs::path& path) {
  make_absolute(args.request);
  Json json = {{"format", args.format},
               {"schema", args_schema},
               {"version", HYPERATOM_VERSION},
               {"command", args.command},
               {"inputs", Json::parse(to_json(args.request.fields()))},
               {"options", Json::parse(to_json(args.request.options.fields()))},
               {"given", args.request.given},
               {"chosen", choices_json(args.choices)}};
  if (!args.more.is_null()) json["more"] = args.more;
  write_json(path, json);
}

Args load_args(const fs::path& path, const std::string& format) {
  std::ifstream stream(path);
  if (!stream)
    throw DataError(fmt::format("{}: can't be read, expected the args.json of a {}", path.string(),
                                name_of(format)));
  const Json json = Json::parse(stream, nullptr, false);
  Args args{.format = format};
  try {
    if (!json.is_object() || json.at("format") != format)
      throw DataError(
          fmt::format("{}: is not the args.json of a {}", path.string(), name_of(format)));
    if (json.at("schema") != args_schema)
      throw DataError(fmt::format("{}: schema {}, this version reads {}", path.string(),
                                  json.at("schema").dump(), args_schema));
    args.command = json.at("command").get<std::vector<std::string>>();
    from_json(json.at("inputs").dump(), args.request.fields());
    from_json(json.at("options").dump(), args.request.options.fields());
    args.request.given = json.at("given").get<std::set<std::string>>();
    if (json.contains("more")) args.more = json.at("more");
    for (const Json& choice : json.at("chosen"))
      args.choices.push_back({choice.at("option"), choice.at("value"), choice.at("reason")});
  } catch (const Json::exception&) {
    throw DataError(fmt::format("{}: is not the args.json of a {}, or not a whole one",
                                path.string(), name_of(format)));
  } catch (const OptionError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
  return args;
}

}  // namespace hyperatom::cli
