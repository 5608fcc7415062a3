// "did you mean": the name closest to one that does not exist.
#pragma once

#include <string>
#include <vector>

namespace hyperatom::cli {

/// "; did you mean --labels?", or nothing when no name is close.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace hyperatom::cli
