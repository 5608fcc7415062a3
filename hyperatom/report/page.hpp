// One HTML file that opens from disk: the built viewer with a report's data in it.
//
// Data are put where the viewer has its marker: a JSON document, and blocks of bytes, deflated and
// in base64. Both stand in script elements of types that no browser runs, and nothing in them can
// end such an element: text of a file or a class stays text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hyperatom {

/// Bytes of the page under a name of letters, digits and hyphens.
struct PageBlock {
  std::string name;
  std::string encoded;  ///< deflated (zlib), in base64
};

PageBlock make_block(std::string name, std::string_view bytes);

/// Throws Error if the viewer has no marker.
std::string fill_page(std::string_view viewer, const nlohmann::ordered_json& json,
                      const std::vector<PageBlock>& blocks);

/// The viewer as it was built; empty if this build has none (docs/decisions/020-viewer.md).
std::string_view viewer_page();

}  // namespace hyperatom
