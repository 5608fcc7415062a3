#include "hyperatom/io/qml.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace hyperatom {
namespace {

using CplText = std::unique_ptr<char, decltype(&VSIFree)>;

/// How many bytes at `at` make a character of UTF-8 that XML can't hold: C0 and C1 controls,
/// U+FFFE and U+FFFF.
size_t unwanted(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return 2;
  if (byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe) return 3;
  return 0;
}

}  // namespace

std::string clean_text(const std::string& text) {
  std::string utf8 = text;
  std::erase(utf8, '\0');
  if (!CPLIsUTF8(utf8.data(), static_cast<int>(utf8.size())))
    utf8 = CplText(CPLRecode(utf8.c_str(), CPL_ENC_ISO8859_1, CPL_ENC_UTF8), VSIFree).get();
  std::string clean;
  for (size_t at = 0; at < utf8.size();) {
    const size_t skipped = unwanted(utf8, at);
    if (skipped == 0) clean += utf8[at];
    at += std::max(skipped, size_t{1});
  }
  return clean;
}

std::string xml_text(const std::string& text) {
  const CplText xml(CPLEscapeString(clean_text(text).c_str(), -1, CPLES_XML), VSIFree);
  return xml.get();
}

std::string paletted_qml(const std::vector<std::string>& names,
                         const std::vector<Colour>& colours) {
  std::string entries;
  for (size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) continue;
    entries += fmt::format(
        "        <paletteEntry color=\"#{:02x}{:02x}{:02x}\" value=\"{}\" label=\"{}\" "
        "alpha=\"255\"/>\n",
        colours[c][0], colours[c][1], colours[c][2], c + 1, xml_text(names[c]));
  }
  return fmt::format(
      R"(<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis version="3.22.0" styleCategories="Symbology">
  <pipe>
    <rasterrenderer type="paletted" band="1" opacity="1" alphaBand="-1" nodataColor="">
      <rasterTransparency/>
      <colorPalette>
{}      </colorPalette>
    </rasterrenderer>
    <brightnesscontrast brightness="0" contrast="0" gamma="1"/>
    <huesaturation saturation="0" grayscaleMode="0" colorizeOn="0"/>
    <rasterresampler maxOversampling="2"/>
  </pipe>
  <blendMode>0</blendMode>
</qgis>
)",
      entries);
}

}  // namespace hyperatom
