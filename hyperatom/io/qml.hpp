// A QGIS style that shows a class map with exactly our classes.
#pragma once

#include <string>
#include <vector>

#include "hyperatom/scene/labels.hpp"

namespace hyperatom {

/// Text of unknown origin as UTF-8 that XML can hold: what is not UTF-8 is taken for Latin-1,
/// control characters are dropped.
std::string clean_text(const std::string& text);

/// The same, escaped for use in an element or an attribute.
std::string xml_text(const std::string& text);

/// The .qml of a one-band map with the classes 1, 2, ...; those without a name are left out.
std::string paletted_qml(const std::vector<std::string>& names, const std::vector<Colour>& colours);

}  // namespace hyperatom
