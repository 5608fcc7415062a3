// args.json: what a folder's command was asked for and what was chosen, so that it can go on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/hyperatom/request.hpp"
#include "hyperatom/learn/automatic.hpp"

namespace hyperatom::cli {

struct Args {
  std::string format = "hyperatom-run";  ///< whose it is: of a run, a tuning, a comparison
  TrainRequest request = {};
  std::vector<std::string> command = {};
  std::vector<Choice> choices = {};
  Json more = nullptr;  ///< what only that command knows
};

Json choices_json(const std::vector<Choice>& choices);

/// Files are named from the root, so that the command can go on from anywhere.
void save_args(Args args, const std::filesystem::path& path);

/// Throws DataError unless the file is there, whole, and of that format.
Args load_args(const std::filesystem::path& path, const std::string& format);

}  // namespace hyperatom::cli
