#include "hyperatom/report/page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <cstdint>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

constexpr std::string_view marker = "<!--hyperatom:data-->";

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                Z_BEST_COMPRESSION) != Z_OK)
    throw Error(fmt::format("{} bytes of the report can't be compressed", bytes.size()));
  result.resize(size);
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// In ASCII, what is not UTF-8 replaced, and without '<'.
std::string harmless(const nlohmann::ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

}  // namespace

PageBlock make_block(std::string name, std::string_view bytes) {
  return {std::move(name), base64(deflated(bytes))};
}

std::string fill_page(std::string_view viewer, const nlohmann::ordered_json& json,
                      const std::vector<PageBlock>& blocks) {
  const size_t place = viewer.find(marker);
  if (place == std::string_view::npos) throw Error("the viewer has no place for a report's data");
  std::string page(viewer.substr(0, place));
  page += "<script id=\"report\" type=\"application/json\">" + harmless(json) + "</script>\n";
  for (const PageBlock& block : blocks)
    page += "<script id=\"block-" + block.name + "\" type=\"text/plain\">" + block.encoded +
            "</script>\n";
  page += viewer.substr(place + marker.size());
  return page;
}

}  // namespace hyperatom
