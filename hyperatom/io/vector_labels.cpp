#include "hyperatom/io/vector_labels.hpp"

#include <fmt/format.h>
#include <gdal_alg.h>
#include <gdal_priv.h>
#include <ogr_spatialref.h>
#include <ogrsf_frmts.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hyperatom/io/crs.hpp"
#include "hyperatom/io/data_error.hpp"
#include "hyperatom/io/gdal.hpp"

namespace hyperatom {
namespace {

namespace fs = std::filesystem;

constexpr GIntBig largest_class = 65535;

/// Calls visit(feature, number) for all features of a layer, numbered from 1.
template <class Visit>
void for_each_feature(OGRLayer& layer, const std::string& path, const Visit& visit) {
  const GdalMessages messages;
  layer.ResetReading();
  std::int32_t number = 0;
  while (const OGRFeatureUniquePtr feature{layer.GetNextFeature()}) visit(*feature, ++number);
  if (messages.failed()) fail(path, "can't be read after feature {}: {}", number, messages.text());
}

// ---- Layer and field

OGRLayer& only_layer(GDALDataset& dataset, const std::string& path) {
  const int count = dataset.GetLayerCount();
  if (count == 1) return *dataset.GetLayer(0);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(dataset.GetLayer(i)->GetName());
  fail(path, "has {} layers ({}), expected one", count, fmt::join(names, ", "));
}

std::string describe_fields(OGRLayer& layer, const std::string& path) {
  const OGRFeatureDefn& definition = *layer.GetLayerDefn();
  std::vector<std::set<std::string>> values(static_cast<size_t>(definition.GetFieldCount()));
  for_each_feature(layer, path, [&](const OGRFeature& feature, std::int32_t) {
    for (size_t i = 0; i < values.size(); ++i)
      if (feature.IsFieldSetAndNotNull(static_cast<int>(i)))
        values[i].insert(const_cast<OGRFeature&>(feature).GetFieldAsString(static_cast<int>(i)));
  });
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i) {
    const OGRFieldDefn& field = *definition.GetFieldDefn(static_cast<int>(i));
    texts.push_back(fmt::format("{} ({}, {} distinct)", field.GetNameRef(),
                                OGRFieldDefn::GetFieldTypeName(field.GetType()), values[i].size()));
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

/// The number of the field with the classes.
int class_field(OGRLayer& layer, const std::string& name, const std::string& path) {
  const OGRFeatureDefn& definition = *layer.GetLayerDefn();
  if (name.empty() && definition.GetFieldCount() == 1) return 0;
  if (name.empty())
    fail(path, "needs the name of the field with the classes; its fields: {}",
         describe_fields(layer, path));
  const int field = definition.GetFieldIndex(name.c_str());
  if (field < 0)
    fail(path, "has no field \"{}\"; its fields: {}", name, describe_fields(layer, path));
  return field;
}

// ---- Classes

/// What the features say: their classes, and how many say nothing.
struct Classes {
  std::vector<std::int32_t> ids;  ///< per feature; 0 = none
  std::vector<std::string> names;
  Index without = 0;
};

Classes text_classes(OGRLayer& layer, int field, const std::string& path) {
  std::vector<std::string> texts;
  for_each_feature(layer, path, [&](OGRFeature& feature, std::int32_t) {
    const bool set = feature.IsFieldSetAndNotNull(field);
    const std::string text = set ? feature.GetFieldAsString(field) : "";
    texts.push_back(text.find_first_not_of(" \t\r\n") == std::string::npos ? "" : text);
  });
  std::map<std::string, std::int32_t> ids;
  for (const std::string& text : texts)
    if (!text.empty()) ids[text] = 0;
  Classes classes;
  for (auto& [text, id] : ids) {
    classes.names.push_back(text);
    id = static_cast<std::int32_t>(classes.names.size());
  }
  if (static_cast<GIntBig>(classes.names.size()) > largest_class)
    fail(path, "field \"{}\" has {} distinct values, expected at most {} classes",
         layer.GetLayerDefn()->GetFieldDefn(field)->GetNameRef(), classes.names.size(),
         largest_class);
  for (const std::string& text : texts) {
    classes.ids.push_back(text.empty() ? 0 : ids[text]);
    classes.without += text.empty();
  }
  return classes;
}

Classes number_classes(OGRLayer& layer, int field, const std::string& path) {
  Classes classes;
  std::int32_t largest = 0;
  for_each_feature(layer, path, [&](OGRFeature& feature, std::int32_t number) {
    const double value =
        feature.IsFieldSetAndNotNull(field) ? feature.GetFieldAsDouble(field) : 0.0;
    if (!(value >= 0 && value <= largest_class && value == std::floor(value)))
      fail(path,
           "value {} of field \"{}\" in feature {} is no class: expected whole numbers from 1 to "
           "{}, or text",
           value, layer.GetLayerDefn()->GetFieldDefn(field)->GetNameRef(), number, largest_class);
    classes.ids.push_back(static_cast<std::int32_t>(value));
    classes.without += value == 0;
    largest = std::max(largest, classes.ids.back());
  });
  for (std::int32_t id = 1; id <= largest; ++id) classes.names.push_back(std::to_string(id));
  return classes;
}

Classes read_classes(OGRLayer& layer, int field, const std::string& path) {
  const OGRFieldDefn& definition = *layer.GetLayerDefn()->GetFieldDefn(field);
  const OGRFieldType type = definition.GetType();
  Classes classes;
  if (type == OFTString)
    classes = text_classes(layer, field, path);
  else if (type == OFTInteger || type == OFTInteger64 || type == OFTReal)
    classes = number_classes(layer, field, path);
  else
    fail(path, "field \"{}\" is of type {}, expected numbers or text; its fields: {}",
         definition.GetNameRef(), OGRFieldDefn::GetFieldTypeName(type),
         describe_fields(layer, path));
  if (classes.names.empty())
    fail(path, "field \"{}\" is empty in all {} features", definition.GetNameRef(),
         classes.ids.size());
  return classes;
}

// ---- Place

/// Applies an affine transform to all points.
class Affine : public OGRDefaultGeometryVisitor {
 public:
  explicit Affine(const std::array<double, 6>& t) : t_(t) {}
  using OGRDefaultGeometryVisitor::visit;
  void visit(OGRPoint* point) override {
    const double x = point->getX(), y = point->getY();
    point->setX(t_[0] + t_[1] * x + t_[2] * y);
    point->setY(t_[3] + t_[4] * x + t_[5] * y);
  }

 private:
  std::array<double, 6> t_;
};

/// An edge that is straight in one CRS is bent in another: long ones are reprojected piecewise.
void subdivide_edges(OGRGeometry& geometry) {
  constexpr double pieces = 64;
  OGREnvelope envelope;
  geometry.getEnvelope(&envelope);
  const double side = std::max(envelope.MaxX - envelope.MinX, envelope.MaxY - envelope.MinY);
  if (side > 0) geometry.segmentize(side / pieces);
}

/// Moves geometries to pixel coordinates of the scene: x = column, y = row.
class ToPixels {
 public:
  ToPixels(const OGRSpatialReference* from, const SceneInfo& scene, const LabelOptions& options,
           const std::string& path) {
    reproject(from, scene, options, path);
    if (!scene.georeference.transform)
      fail(path, "holds map coordinates, but {} has no transform to place them with", scene.path);
    std::array<double, 6> transform = *scene.georeference.transform;
    if (!GDALInvGeoTransform(transform.data(), inverse_.data()))
      fail(scene.path, "its transform can't be inverted");
  }

  /// False if the scene's CRS can't express the place.
  bool move(OGRGeometry& geometry) const {
    if (projection_) {
      const GdalMessages messages;
      subdivide_edges(geometry);
      if (geometry.transform(projection_.get()) != OGRERR_NONE) return false;
    }
    Affine affine(inverse_);
    geometry.accept(&affine);
    return true;
  }

 private:
  void reproject(const OGRSpatialReference* from, const SceneInfo& scene,
                 const LabelOptions& options, const std::string& path) {
    const bool known = from != nullptr && !from->IsEmpty();
    const std::string& wkt = scene.georeference.crs;
    if (!known && !wkt.empty() && !options.crs_is_scene)
      fail(path, "has no CRS; if it matches the scene pass --label-crs scene");
    if (!known) return;
    if (wkt.empty())
      fail(path, "has the CRS {}, but {} has none to reproject it to", name_of(*from), scene.path);
    const OGRSpatialReference to = parse_crs(wkt, scene.path);
    if (same_crs(*from, to)) return;
    OGRSpatialReference source(*from);
    source.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
    const GdalMessages messages;
    projection_.reset(OGRCreateCoordinateTransformation(&source, &to));
    if (!projection_)
      fail(path, "can't be reprojected from {} to {}: {}", name_of(source), name_of(to),
           messages.text());
  }

  std::array<double, 6> inverse_{};
  std::unique_ptr<OGRCoordinateTransformation> projection_;
};

// ---- Burning

/// Columns [left, right) and rows [top, bottom) of the scene.
struct Box {
  Index left = 0, right = 0, top = 0, bottom = 0;

  bool empty() const { return left >= right || top >= bottom; }
  Index cols() const { return right - left; }
  Index rows() const { return bottom - top; }
};

/// What of the scene an envelope covers; its coordinates may be infinite or not a number.
Box inside(const OGREnvelope& envelope, bool points, const SceneInfo& scene) {
  const auto clipped = [](double value, Index limit) {
    return value > 0 ? static_cast<Index>(std::min(value, static_cast<double>(limit))) : 0;
  };
  // A point on the edge between two pixels is in the second, a polygon that ends there is not.
  const auto end = [points](double value) {
    return points ? std::floor(value) + 1 : std::ceil(value);
  };
  return {.left = clipped(std::floor(envelope.MinX), scene.cols),
          .right = clipped(end(envelope.MaxX), scene.cols),
          .top = clipped(std::floor(envelope.MinY), scene.rows),
          .bottom = clipped(end(envelope.MaxY), scene.rows)};
}

/// 1 where the polygons cover the box, row by row; nothing if GDAL fails.
std::optional<std::vector<std::uint8_t>> rasterize(OGRGeometry& polygons, const Box& box,
                                                   bool all_touched) {
  const int cols = static_cast<int>(box.cols()), rows = static_cast<int>(box.rows());
  const Dataset dataset(
      GetGDALDriverManager()->GetDriverByName("MEM")->Create("", cols, rows, 1, GDT_Byte, nullptr));
  if (!dataset) return std::nullopt;
  double transform[] = {static_cast<double>(box.left), 1, 0, static_cast<double>(box.top), 0, 1};
  char touch[] = "ALL_TOUCHED=TRUE";
  char* options[] = {all_touched ? touch : nullptr, nullptr};
  int bands[] = {1};
  double values[] = {1};
  OGRGeometryH geometries[] = {OGRGeometry::ToHandle(&polygons)};
  std::vector<std::uint8_t> burnt(static_cast<size_t>(box.cols() * box.rows()));
  if (dataset->SetGeoTransform(transform) != CE_None ||
      GDALRasterizeGeometries(GDALDataset::ToHandle(dataset.get()), 1, bands, 1, geometries,
                              nullptr, nullptr, values, options, nullptr, nullptr) != CE_None ||
      dataset->GetRasterBand(1)->RasterIO(GF_Read, 0, 0, cols, rows, burnt.data(), cols, rows,
                                          GDT_Byte, 0, 0, nullptr) != CE_None)
    return std::nullopt;
  return burnt;
}

constexpr std::int32_t disputed = -1;  // in the place of a part

/// Who wants which pixel.
struct Claims {
  std::vector<std::int32_t> ids, parts;

  explicit Claims(Index pixels)
      : ids(static_cast<size_t>(pixels), 0), parts(static_cast<size_t>(pixels), 0) {}

  void claim(Index pixel, std::int32_t id, std::int32_t part) {
    const auto i = static_cast<size_t>(pixel);
    if (parts[i] == 0) {
      ids[i] = id;
      parts[i] = part;
    } else if (ids[i] != id) {
      ids[i] = 0;
      parts[i] = disputed;
    }
  }
};

/// Features that are not used, or not wholly.
struct Tally {
  Index without_geometry = 0, outside = 0, partly_outside = 0, without_pixel = 0;
};

class Burner {
 public:
  Burner(const SceneInfo& scene, const LabelOptions& options, const std::string& path)
      : scene_(scene),
        path_(path),
        covered_(scene.pixels()),
        touched_(options.all_touched ? scene.pixels() : 0),
        all_touched_(options.all_touched) {}

  /// The geometry of feature `number` in pixel coordinates. Each of its polygons or points is a
  /// part of its own: that they share a record says nothing of where they lie.
  void burn(OGRGeometry& geometry, std::int32_t id, std::int32_t number) {
    OGREnvelope envelope;
    geometry.getEnvelope(&envelope);
    if (inside(envelope, is_point(geometry), scene_).empty()) {
      ++tally.outside;
      return;
    }
    tally.partly_outside += envelope.MinX < 0 || envelope.MinY < 0 ||
                            envelope.MaxX > static_cast<double>(scene_.cols) ||
                            envelope.MaxY > static_cast<double>(scene_.rows);
    Index claimed = 0;
    if (OGR_GT_IsSubClassOf(geometry.getGeometryType(), wkbGeometryCollection))
      for (OGRGeometry* member : *geometry.toGeometryCollection())
        claimed += burn_part(*member, id, number);
    else
      claimed = burn_part(geometry, id, number);
    tally.without_pixel += claimed == 0;
  }

  /// The feature that covers a pixel's centre comes before those that only touch the pixel: asking
  /// for touched pixels loses none.
  Claims settled() {
    for (size_t i = 0; i < touched_.ids.size(); ++i)
      if (covered_.parts[i] == 0) {
        covered_.ids[i] = touched_.ids[i];
        covered_.parts[i] = touched_.parts[i];
      }
    return std::move(covered_);
  }

  Tally tally;

 private:
  static bool is_point(const OGRGeometry& geometry) {
    const OGRwkbGeometryType type = wkbFlatten(geometry.getGeometryType());
    return type == wkbPoint || type == wkbMultiPoint;
  }

  /// One polygon or point; how many pixels it claims.
  Index burn_part(OGRGeometry& geometry, std::int32_t id, std::int32_t number) {
    const std::int32_t part = ++parts_;
    if (is_point(geometry)) return burn_point(*geometry.toPoint(), id, part);
    OGREnvelope envelope;
    geometry.getEnvelope(&envelope);
    const Box box = inside(envelope, false, scene_);
    if (box.empty()) return 0;
    Index claimed = burn_polygon(geometry, box, false, id, part, number);
    if (all_touched_) claimed += burn_polygon(geometry, box, true, id, part, number);
    return claimed;
  }

  Index burn_point(const OGRPoint& point, std::int32_t id, std::int32_t part) {
    const double col = std::floor(point.getX()), row = std::floor(point.getY());
    const bool within = col >= 0 && row >= 0 && col < static_cast<double>(scene_.cols) &&
                        row < static_cast<double>(scene_.rows);
    if (within)
      covered_.claim(static_cast<Index>(row) * scene_.cols + static_cast<Index>(col), id, part);
    return within;
  }

  Index burn_polygon(OGRGeometry& geometry, const Box& box, bool touched, std::int32_t id,
                     std::int32_t part, std::int32_t number) {
    const GdalMessages messages;
    const auto burnt = rasterize(geometry, box, touched);
    if (!burnt) fail(path_, "feature {} can't be rasterized: {}", number, messages.text());
    Index claimed = 0;
    for (Index i = 0; i < box.rows() * box.cols(); ++i)
      if ((*burnt)[static_cast<size_t>(i)] != 0) {
        const Index row = box.top + i / box.cols(), col = box.left + i % box.cols();
        (touched ? touched_ : covered_).claim(row * scene_.cols + col, id, part);
        ++claimed;
      }
    return claimed;
  }

  const SceneInfo& scene_;
  const std::string& path_;
  Claims covered_, touched_;
  bool all_touched_;
  std::int32_t parts_ = 0;
};

// ---- The result

std::vector<std::string> notes_of(const Tally& tally, Index without_class, Index conflicts) {
  std::vector<std::string> notes;
  const auto note = [&](Index count, const char* one, const char* many) {
    if (count > 0) notes.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  note(without_class, "feature has no class and is not used",
       "features have no class and are not used");
  note(tally.without_geometry, "feature has no geometry and is not used",
       "features have no geometry and are not used");
  note(tally.outside, "feature lies outside the scene and is not used",
       "features lie outside the scene and are not used");
  note(tally.partly_outside, "feature lies partly outside the scene: only the part inside is used",
       "features lie partly outside the scene: only the parts inside are used");
  note(tally.without_pixel, "feature covers no pixel centre and is not used",
       "features cover no pixel centre and are not used");
  note(conflicts, "pixel is claimed by features of different classes and left unlabelled",
       "pixels are claimed by features of different classes and left unlabelled");
  return notes;
}

/// Throws when nothing was labelled.
LabelsRead to_labels(Claims claims, const Tally& tally, const Classes& classes,
                     const SceneInfo& scene, const std::string& path) {
  const auto features = static_cast<Index>(classes.ids.size());
  if (tally.outside > 0 && tally.outside == features - classes.without)
    fail(path, "all {} features with a class lie outside the scene", tally.outside);
  const Index conflicts = std::count(claims.parts.begin(), claims.parts.end(), disputed);
  if (std::count(claims.ids.begin(), claims.ids.end(), 0) == scene.pixels())
    fail(path,
         "labels no pixel: of {} features, {} have no class, {} lie outside the scene, {} cover no "
         "pixel centre, and {} pixels are claimed for different classes",
         features, classes.without, tally.outside, tally.without_pixel, conflicts);
  std::replace(claims.parts.begin(), claims.parts.end(), disputed, 0);
  LabelsRead read;
  read.labels.rows = scene.rows;
  read.labels.cols = scene.cols;
  read.labels.ids = std::move(claims.ids);
  read.labels.parts = std::move(claims.parts);
  read.labels.names = classes.names;
  read.labels.colours = default_colours(read.labels.classes());
  read.notes = notes_of(tally, classes.without, conflicts);
  return read;
}

/// A copy that consists of points or of polygons with straight edges.
std::unique_ptr<OGRGeometry> burnable(const OGRGeometry& geometry, std::int32_t number,
                                      const std::string& path) {
  std::unique_ptr<OGRGeometry> linear(geometry.getLinearGeometry());
  const OGRwkbGeometryType type = wkbFlatten(linear->getGeometryType());
  if (type != wkbPolygon && type != wkbMultiPolygon && type != wkbPoint && type != wkbMultiPoint)
    fail(path, "feature {} is a {}, expected polygons or points", number,
         OGRGeometryTypeToName(type));
  return linear;
}

void burn_layer(OGRLayer& layer, const Classes& classes, const ToPixels& to_pixels,
                const std::string& path, Burner& burner) {
  for_each_feature(layer, path, [&](const OGRFeature& feature, std::int32_t number) {
    const std::int32_t id = classes.ids.at(static_cast<size_t>(number) - 1);
    if (id == 0) return;
    const OGRGeometry* geometry = feature.GetGeometryRef();
    if (geometry == nullptr || geometry->IsEmpty()) {
      ++burner.tally.without_geometry;
      return;
    }
    const std::unique_ptr<OGRGeometry> moved = burnable(*geometry, number, path);
    if (to_pixels.move(*moved))
      burner.burn(*moved, id, number);
    else
      ++burner.tally.outside;
  });
}

}  // namespace

bool is_vector_file(const fs::path& path) {
  const Dataset dataset = try_open(path);
  return dataset && dataset->GetRasterCount() == 0 && dataset->GetLayerCount() > 0;
}

LabelsRead read_vector_labels(const fs::path& path, const SceneInfo& scene,
                              const LabelOptions& options) {
  const Dataset dataset = open_vector(path);
  OGRLayer& layer = only_layer(*dataset, path.string());
  const int field = class_field(layer, options.class_field, path.string());
  const ToPixels to_pixels(layer.GetSpatialRef(), scene, options, path.string());
  const Classes classes = read_classes(layer, field, path.string());
  const std::string name = path.string();
  Burner burner(scene, options, name);
  burn_layer(layer, classes, to_pixels, name, burner);
  return to_labels(burner.settled(), burner.tally, classes, scene, name);
}

}  // namespace hyperatom
