#include "hyperatom/io/crs.hpp"

#include <fmt/format.h>
#include <ogr_spatialref.h>

#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/gdal.hpp"

namespace hyperatom {

OGRSpatialReference parse_crs(const std::string& wkt, const std::string& owner) {
  const GdalMessages messages;
  OGRSpatialReference crs;
  crs.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  if (crs.importFromWkt(wkt.c_str()) != OGRERR_NONE)
    fail(owner, "its CRS is not valid WKT: {}", messages.text());
  return crs;
}

bool same_crs(const OGRSpatialReference& a, const OGRSpatialReference& b) {
  const GdalMessages messages;
  const char* const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", nullptr};
  return a.IsSame(&b, options) != 0;
}

std::string name_of(const OGRSpatialReference& crs) {
  const char* name = crs.GetName();
  const char* authority = crs.GetAuthorityName(nullptr);
  const char* code = crs.GetAuthorityCode(nullptr);
  const std::string known = name != nullptr ? name : "a CRS without a name";
  return authority != nullptr && code != nullptr ? fmt::format("{} ({}:{})", known, authority, code)
                                                 : known;
}

std::string name_of_crs(const std::string& wkt) {
  const GdalMessages messages;
  OGRSpatialReference crs;
  return crs.importFromWkt(wkt.c_str()) == OGRERR_NONE ? name_of(crs) : wkt;
}

}  // namespace hyperatom
