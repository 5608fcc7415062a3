// Coordinate reference systems as the readers and writers of this folder compare and name them.
#pragma once

#include <string>

class OGRSpatialReference;

namespace hyperatom {

/// From WKT, with x (east, longitude) before y whatever the authority says. Throws DataError
/// "<owner>: ...".
OGRSpatialReference parse_crs(const std::string& wkt, const std::string& owner);

/// True also when only the names or the axis order of geographic coordinates differ.
bool same_crs(const OGRSpatialReference& a, const OGRSpatialReference& b);

/// For messages: "WGS 84 / UTM zone 33N (EPSG:32633)".
std::string name_of(const OGRSpatialReference& crs);

/// The same for WKT; WKT that can't be read is its own name.
std::string name_of_crs(const std::string& wkt);

}  // namespace hyperatom
