#include "hyperatom/scene/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/base/random.hpp"

namespace hyperatom {
namespace {

constexpr Index most_pixels = 1'000'000'000;

constexpr const char* utm_33_north =
    R"(PROJCS["WGS 84 / UTM zone 33N",GEOGCS["WGS 84",DATUM["WGS_1984",)"
    R"(SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],)"
    R"(PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],)"
    R"(UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]],)"
    R"(PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],)"
    R"(PARAMETER["central_meridian",15],PARAMETER["scale_factor",0.9996],)"
    R"(PARAMETER["false_easting",500000],PARAMETER["false_northing",0],)"
    R"(UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],AXIS["Northing",NORTH],)"
    R"(AUTHORITY["EPSG","32633"]])";

/// What a stream is drawn for. Each has its own range of counters.
enum class Draw : std::uint64_t { waves, line, crossing, family, features, deck, field, pixel };

RandomStream stream(std::uint64_t seed, Draw draw, Index which) {
  return {seed, Purpose::scene,
          static_cast<std::uint64_t>(draw) << 56 | static_cast<std::uint64_t>(which)};
}

/// Uniform in [-1, 1).
double spread(RandomStream& random) { return 2 * random.uniform() - 1; }

/// About standard normal: the sum of four bytes. Cheap, which is all that matters for noise.
float near_normal(RandomStream& random) {
  const std::uint32_t bits = random.bits();
  const auto sum =
      static_cast<int>((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24));
  constexpr float deviation = 147.8f;
  return static_cast<float>(sum - 510) / deviation;
}

/// From any number to (0, 1), nearly uniform for a standard normal one.
double squash(double z) { return 1 / (1 + std::exp(-1.7 * z)); }

double bell(double x, double centre, double width) {
  const double z = (x - centre) / width;
  return std::exp(-z * z / 2);
}

double step(double x, double centre, double width) {
  return 1 / (1 + std::exp(-(x - centre) / width));
}

// Reflectances by wavelength in micrometres: the shapes known from spectral libraries, not fits.

double green_leaves(double x) {
  const double leaf = 0.04 + 0.06 * bell(x, 0.55, 0.035) + 0.44 * step(x, 0.715, 0.014);
  const double water = 0.12 * bell(x, 0.97, 0.03) + 0.2 * bell(x, 1.2, 0.05) +
                       0.75 * bell(x, 1.45, 0.08) + 0.9 * bell(x, 1.94, 0.1);
  return leaf * std::exp(-water - 0.75 * step(x, 1.35, 0.05) - 0.6 * step(x, 1.95, 0.15));
}

double straw(double x) {
  const double cellulose = 0.08 * bell(x, 1.73, 0.04) + 0.2 * bell(x, 2.1, 0.06);
  return (0.06 + 0.42 * (1 - std::exp(-(x - 0.38) / 0.45))) * (1 - cellulose) *
         (1 - 0.35 * step(x, 1.9, 0.08));
}

double soil(double x) {
  const double features = 0.06 * bell(x, 0.9, 0.1) + 0.2 * bell(x, 1.42, 0.05) +
                          0.25 * bell(x, 1.93, 0.06) + 0.14 * bell(x, 2.2, 0.03);
  return (0.05 + 0.3 * (1 - std::exp(-(x - 0.35) / 0.7))) * (1 - features);
}

double gravel(double x) { return 0.16 + 0.2 * (1 - std::exp(-(x - 0.35) / 0.35)); }

double roof_tiles(double x) {
  const double iron = 0.25 * bell(x, 0.5, 0.08) + 0.2 * bell(x, 0.87, 0.08);
  return (0.1 + 0.3 * step(x, 0.59, 0.03)) * (1 - iron);
}

/// What reaches the sensor through the water vapour and oxygen of the air.
double transmission(double x) {
  const double depth = 0.4 * bell(x, 0.76, 0.006) + 0.3 * bell(x, 0.94, 0.02) +
                       0.5 * bell(x, 1.13, 0.025) + 4 * bell(x, 1.385, 0.03) +
                       4 * bell(x, 1.88, 0.04);
  return std::exp(-depth);
}

/// Two classes that look alike, and the shares of leaves and straw in both; the rest is soil.
struct Family {
  std::array<const char*, 2> names;
  double leaves;
  double straw;
};

constexpr Family families[] = {{{"corn-notill", "corn-mintill"}, 0.5, 0.2},
                               {{"wheat-stubble", "barley-stubble"}, 0.1, 0.6},
                               {{"pasture", "meadow"}, 0.8, 0.15},
                               {{"soybean-notill", "soybean-mintill"}, 0.45, 0.1},
                               {{"fallow", "seedbed"}, 0.05, 0.1},
                               {{"alfalfa", "clover"}, 0.95, 0.0},
                               {{"oats", "rye"}, 0.3, 0.5},
                               {{"orchard", "vineyard"}, 0.6, 0.05}};
constexpr auto family_count = static_cast<Index>(std::size(families));

Index rare_classes(Index classes) { return std::min<Index>(2, classes / 4); }

std::vector<std::string> class_names(Index classes) {
  constexpr std::array<const char*, 2> rare_names = {"farmyard", "roofs"};
  const Index common = classes - rare_classes(classes);
  std::vector<std::string> names;
  for (Index c = 0; c < common; ++c) {
    const Index round = c / 2 / family_count;
    const std::string name = families[at(c / 2 % family_count)].names[at(c % 2)];
    names.push_back(round == 0 ? name : fmt::format("{}-{}", name, round + 1));
  }
  for (Index c = common; c < classes; ++c) names.emplace_back(rare_names[at(c - common)]);
  return names;
}

/// `count` absorption features of a depth up to `depth`: a factor per band. One lies in each part
/// of the spectrum, so that scenes of different seeds are about equally hard.
Vector features(const Vector& wavelengths, int count, double depth, RandomStream random) {
  Vector factor = Vector::Ones(wavelengths.size());
  for (int f = 0; f < count; ++f) {
    const double centre = 0.5 + 1.85 * (f + random.uniform()) / count;
    const double width = 0.04 + 0.06 * random.uniform();
    const double deep = depth * (0.5 + 0.5 * random.uniform());
    const auto shape = [&](double x) { return 1 - deep * bell(x, centre, width); };
    factor.array() *= wavelengths.unaryExpr(shape).array();
  }
  return factor;
}

Vector family_spectrum(const SyntheticOptions& options, const Vector& wavelengths, Index family) {
  RandomStream random = stream(options.seed, Draw::family, family);
  const Family& known = families[at(family % family_count)];
  const double leaves = std::clamp(known.leaves + 0.05 * spread(random), 0.0, 1.0);
  const double dry = std::min(known.straw + 0.05 * random.uniform(), 1 - leaves);
  const Vector mixed = wavelengths.unaryExpr([&](double x) {
    return leaves * green_leaves(x) + dry * straw(x) + (1 - leaves - dry) * soil(x);
  });
  return mixed.cwiseProduct(features(wavelengths, 3, 0.1, std::move(random)));
}

/// Materials that are no class stand behind the classes, in this order.
enum class Extra { soil, path, grass, count };

Index column(Extra extra, Index classes) { return classes + static_cast<Index>(extra); }

/// bands x (classes + extras), as seen through the air.
MatrixF material_spectra(const SyntheticOptions& options, const Vector& wavelengths) {
  const Index classes = options.classes, common = classes - rare_classes(classes);
  Matrix spectra(options.bands, column(Extra::count, classes));
  for (Index c = 0; c < classes; ++c) {
    if (c < common)
      spectra.col(c) = family_spectrum(options, wavelengths, c / 2);
    else
      spectra.col(c) =
          0.5 * wavelengths.unaryExpr(&roof_tiles) + 0.5 * wavelengths.unaryExpr(&gravel);
    spectra.col(c).array() *=
        features(wavelengths, 4, options.contrast, stream(options.seed, Draw::features, c)).array();
  }
  spectra.col(column(Extra::soil, classes)) = wavelengths.unaryExpr(&soil);
  spectra.col(column(Extra::path, classes)) = wavelengths.unaryExpr(&gravel);
  spectra.col(column(Extra::grass, classes)) =
      0.7 * wavelengths.unaryExpr(&green_leaves) + 0.3 * wavelengths.unaryExpr(&straw);
  return (wavelengths.unaryExpr(&transmission).asDiagonal() * spectra).cast<float>();
}

/// Standard deviation of the sensor's noise per band.
Eigen::ArrayXf noise_levels(const SyntheticOptions& options, const Vector& wavelengths) {
  return wavelengths
      .unaryExpr([&](double x) {
        return options.noise * (1 + 2 * std::exp(-(x - 0.4) / 0.08) + 1.5 * (1 - transmission(x)));
      })
      .cast<float>();
}

/// A smooth random function of the place, about standard normal: a few plane waves.
class SmoothMap {
 public:
  /// `scale`: a typical wavelength in pixels.
  SmoothMap(std::uint64_t seed, Index which, double scale) {
    RandomStream random = stream(seed, Draw::waves, which);
    for (Wave& wave : waves_) {
      const double angle = 2 * std::numbers::pi * random.uniform();
      const double rate = 2 * std::numbers::pi / (scale * (0.6 + random.uniform()));
      wave = {rate * std::sin(angle), rate * std::cos(angle),
              2 * std::numbers::pi * random.uniform()};
    }
  }

  double operator()(double row, double col) const {
    double sum = 0;
    for (const Wave& wave : waves_) sum += std::sin(wave.row * row + wave.col * col + wave.phase);
    return sum * std::numbers::sqrt2 / std::sqrt(static_cast<double>(waves_.size()));
  }

  /// |value| is at most this.
  static double bound() { return std::sqrt(2.0 * wave_count); }

 private:
  struct Wave {
    double row, col, phase;
  };
  static constexpr int wave_count = 5;
  std::array<Wave, wave_count> waves_;
};

/// The grid of fields: lanes from left to right, each cut into fields by lines of its own. Lines
/// are jittered by less than half their distance, so the cell of a place is the one of the even
/// grid or a neighbour of it. The grid is bent by two smooth functions.
class Patchwork {
 public:
  explicit Patchwork(const SyntheticOptions& options)
      : side_(static_cast<double>(options.field)),
        bend_rows_(options.seed, 0, 9 * side_),
        bend_cols_(options.seed, 1, 9 * side_) {
    // Cells enough around the scene for every place to have a neighbour, however the grid is bent.
    before_ = static_cast<Index>(std::ceil(bend() * SmoothMap::bound() / height())) + 1;
    const auto cells = [&](Index pixels, double side) {
      return 2 * before_ + 2 + static_cast<Index>(static_cast<double>(pixels) / side);
    };
    lanes_ = cells(options.rows, height());
    per_lane_ = cells(options.cols, length());
    for (Index i = 0; i <= lanes_; ++i)
      lines_.push_back(make_line(stream(options.seed, Draw::line, i), i));
    for (Index i = 0; i < lanes_ * (per_lane_ + 1); ++i)
      crossings_.push_back(make_line(stream(options.seed, Draw::crossing, i), i % (per_lane_ + 1)));
  }

  Index fields() const { return lanes_ * per_lane_; }

  struct Spot {
    Index field;
    double inside;  ///< pixels to the nearest path; negative on it
  };

  Spot locate(Index at_row, Index at_col) const {
    const auto row = static_cast<double>(at_row), col = static_cast<double>(at_col);
    const auto origin = static_cast<double>(before_);
    const double v = (row + bend() * bend_rows_(row, col)) / height() + origin;
    const double u = (col + bend() * bend_cols_(row, col)) / length() + origin;
    const Index lane = cell(lines_.data(), v);
    const Line* crossings = crossings_.data() + lane * (per_lane_ + 1);
    const Index place = cell(crossings, u);
    return {lane * per_lane_ + place, std::min(inside(lines_.data() + lane, v, height()),
                                               inside(crossings + place, u, length()))};
  }

 private:
  /// A path between two rows of cells.
  struct Line {
    double place;       ///< in cells
    double half_width;  ///< in pixels
  };

  double height() const { return 0.8 * side_; }
  double length() const { return 1.25 * side_; }
  double bend() const { return 0.3 * side_; }

  /// Most paths are narrow, a few wide.
  Line make_line(RandomStream random, Index i) const {
    const double place = static_cast<double>(i) + 0.38 * spread(random);
    const double wide = random.uniform();
    return {place, side_ * (0.01 + 0.05 * wide * wide * wide)};
  }

  static Index cell(const Line* lines, double x) {
    const auto i = static_cast<Index>(x);
    if (x < lines[i].place) return i - 1;
    return x < lines[i + 1].place ? i : i + 1;
  }

  static double inside(const Line* lines, double x, double side) {
    return std::min((x - lines[0].place) * side - lines[0].half_width,
                    (lines[1].place - x) * side - lines[1].half_width);
  }

  double side_;
  SmoothMap bend_rows_, bend_cols_;
  Index before_ = 0, lanes_ = 0, per_lane_ = 0;
  std::vector<Line> lines_, crossings_;
};

/// Share of a pixel that lies inside an edge `inside` pixels away from its centre.
double covered(double inside) { return std::clamp(inside + 0.5, 0.0, 1.0); }

bool well_inside(double inside) { return inside >= 0.7; }

/// A small rectangle of a rare class, in the middle of a field.
struct Plot {
  Index material = 0;  ///< column of the spectra
  double row = 0, col = 0;
  double half_height = 0, half_width = 0;

  double inside(Index at_row, Index at_col) const {
    return std::min(half_height - std::abs(static_cast<double>(at_row) - row),
                    half_width - std::abs(static_cast<double>(at_col) - col));
  }
};

struct FieldPlan {
  Index pixels = 0;    ///< valid ones well inside it
  Index material = 0;  ///< column of the spectra
  Index weed = 0;      ///< likewise
  Index plot = -1;     ///< number of its plot; -1: it has none
  float bare = 0;      ///< how much more soil shows than elsewhere
  float brightness = 1;
  bool labelled = false;
};

/// Classes in the order in which fields get them: each once, then the first of each family again,
/// because real classes are of unequal size.
std::vector<Index> make_deck(std::uint64_t seed, Index which, Index classes) {
  RandomStream random = stream(seed, Draw::deck, which);
  std::vector<Index> deck = random.permutation(classes);
  for (const Index family : random.permutation((classes + 1) / 2)) deck.push_back(2 * family);
  return deck;
}

}  // namespace

class SyntheticScene::Land {
 public:
  /// Makes the labels as well: both rest on the same fields.
  Land(const SyntheticOptions& options, const Vector& wavelengths, Labels& labels);

  bool valid(Index row, Index col) const;
  void fill(Index row, Index col, Eigen::ArrayXf& pixel) const;

 private:
  void find_fields(Labels& labels);
  std::vector<Index> usable_fields() const;
  void choose_materials();
  void choose_details();
  void place_plots(const Labels& labels);
  void write_classes(Labels& labels) const;

  Index common() const { return options_.classes - rare_classes(options_.classes); }
  FieldPlan& field(Index f) { return fields_[at(f)]; }
  const FieldPlan& field(Index f) const { return fields_[at(f)]; }
  RandomStream pixel_stream(Index row, Index col) const {
    return stream(options_.seed, Draw::pixel, row * options_.cols + col);
  }

  SyntheticOptions options_;
  MatrixF spectra_;
  Eigen::ArrayXf noise_;
  Patchwork patchwork_;
  SmoothMap relief_, weeds_, bare_;
  std::vector<FieldPlan> fields_;
  std::vector<Plot> plots_;
};

SyntheticScene::Land::Land(const SyntheticOptions& options, const Vector& wavelengths,
                           Labels& labels)
    : options_(options),
      spectra_(material_spectra(options, wavelengths)),
      noise_(noise_levels(options, wavelengths)),
      patchwork_(options),
      relief_(options.seed, 2, 5 * static_cast<double>(options.field)),
      weeds_(options.seed, 3, 1.5 * static_cast<double>(options.field)),
      bare_(options.seed, 4, 1.5 * static_cast<double>(options.field)),
      fields_(at(patchwork_.fields())) {
  find_fields(labels);
  choose_materials();
  choose_details();
  place_plots(labels);
  write_classes(labels);
}

/// The swath is a little askew: it misses a triangle at the upper left and one at the lower right.
/// One pixel in 1,500 is dead.
bool SyntheticScene::Land::valid(Index row, Index col) const {
  const double down = (static_cast<double>(row) + 0.5) / static_cast<double>(options_.rows);
  const double across = (static_cast<double>(col) + 0.5) / static_cast<double>(options_.cols);
  constexpr double missed = 0.12, until = 0.8;
  if (across < missed * (1 - down / until) || 1 - across < missed * (1 - (1 - down) / until))
    return false;
  return pixel_stream(row, col).uniform() >= 1 / 1500.0;
}

/// Leaves in `labels` the number, from 1, of the field that a valid pixel is well inside of.
void SyntheticScene::Land::find_fields(Labels& labels) {
  labels.ids.assign(at(labels.pixels()), 0);
  parallel_for(labels.rows, [&](Index row, Index) {
    for (Index col = 0; col < labels.cols; ++col) {
      const Patchwork::Spot spot = patchwork_.locate(row, col);
      if (well_inside(spot.inside) && valid(row, col))
        labels.ids[at(row * labels.cols + col)] = static_cast<std::int32_t>(spot.field) + 1;
    }
  });
  for (const std::int32_t id : labels.ids)
    if (id > 0) ++field(id - 1).pixels;
}

std::vector<Index> SyntheticScene::Land::usable_fields() const {
  std::vector<Index> usable;
  for (Index f = 0; f < patchwork_.fields(); ++f)
    if (field(f).pixels > 0) usable.push_back(f);
  if (std::ssize(usable) < options_.classes)
    throw OptionError(fmt::format(
        "classes must be at most {}, the number of fields in {} x {} pixels with field {}, not {}",
        usable.size(), options_.rows, options_.cols, options_.field, options_.classes));
  return usable;
}

/// The largest of every 45 fields are for the plots of the rare classes, the others are dealt out
/// like cards, so that every region has all classes.
void SyntheticScene::Land::choose_materials() {
  constexpr Index group = 45;
  std::vector<Index> usable = usable_fields(), crops;
  for (auto begin = usable.begin(); begin != usable.end();) {
    const auto end = begin + std::min<Index>(group, usable.end() - begin);
    const bool whole = begin == usable.begin() || end - begin == group;
    const auto rest = begin + (whole ? rare_classes(options_.classes) : 0);
    std::partial_sort(begin, rest, end, [&](Index a, Index b) {
      return std::pair(-field(a).pixels, a) < std::pair(-field(b).pixels, b);
    });
    for (auto f = begin; f != rest; ++f) {
      field(*f).material = column(Extra::grass, options_.classes);
      field(*f).plot = std::ssize(plots_);
      plots_.push_back({.material = common() + (f - begin)});
    }
    std::sort(rest, end);
    crops.insert(crops.end(), rest, end);
    begin = end;
  }
  std::vector<Index> deck;
  for (size_t i = 0; i < crops.size(); ++i) {
    const size_t card = deck.empty() ? 0 : i % deck.size();
    if (card == 0) deck = make_deck(options_.seed, static_cast<Index>(i), common());
    field(crops[i]).material = deck[card];
  }
}

/// What differs from field to field of a class. The largest field of a class is always labelled.
void SyntheticScene::Land::choose_details() {
  std::vector<Index> largest(at(options_.classes), -1);
  for (Index f = 0; f < patchwork_.fields(); ++f) {
    FieldPlan& plan = field(f);
    RandomStream random = stream(options_.seed, Draw::field, f);
    if (plan.pixels == 0) plan.material = random.below(common());  // it was not dealt any
    plan.weed = (plan.material + 1 + random.below(common() - 1)) % common();
    plan.bare = static_cast<float>(0.5 * spread(random));
    plan.brightness = static_cast<float>(1 + 0.5 * options_.shading * spread(random));
    if (plan.material >= options_.classes) continue;
    plan.labelled = random.uniform() < options_.labelled;
    Index& best = largest[at(plan.material)];
    if (plan.pixels > 0 && (best < 0 || plan.pixels > field(best).pixels)) best = f;
  }
  for (Index c = 0; c < common(); ++c) field(largest[at(c)]).labelled = true;
}

/// Each around the pixel of its field that is nearest to the middle: it is there however little of
/// the field lies in the scene.
void SyntheticScene::Land::place_plots(const Labels& labels) {
  const auto for_hosts = [&](const auto& visit) {
    for (Index i = 0; i < labels.pixels(); ++i)
      if (const Index f = labels.id(i) - 1; f >= 0 && field(f).plot >= 0)
        visit(field(f), static_cast<double>(i / labels.cols), static_cast<double>(i % labels.cols));
  };
  struct Middle {
    double row = 0, col = 0, nearest = std::numeric_limits<double>::infinity();
  };
  std::vector<Middle> middles(plots_.size());
  for_hosts([&](const FieldPlan& plan, double row, double col) {
    Middle& middle = middles[at(plan.plot)];
    middle.row += row / static_cast<double>(plan.pixels);
    middle.col += col / static_cast<double>(plan.pixels);
  });
  for_hosts([&](const FieldPlan& plan, double row, double col) {
    Middle& middle = middles[at(plan.plot)];
    const double distance = std::hypot(row - middle.row, col - middle.col);
    if (distance >= middle.nearest) return;
    middle.nearest = distance;
    plots_[at(plan.plot)].row = row;
    plots_[at(plan.plot)].col = col;
  });
  constexpr double halves[2][2] = {{0.25, 0.3}, {0.1, 0.21}};  // of the side of a field
  const auto side = static_cast<double>(options_.field);
  for (Plot& plot : plots_) {
    const double* half = halves[plot.material - common()];
    plot.half_height = std::max(1.0, half[0] * side);
    plot.half_width = std::max(1.0, half[1] * side);
  }
}

/// Turns the numbers of fields into classes.
void SyntheticScene::Land::write_classes(Labels& labels) const {
  for (Index i = 0; i < labels.pixels(); ++i) {
    std::int32_t& id = labels.ids[at(i)];
    if (id == 0) continue;
    const FieldPlan& plan = field(id - 1);
    if (plan.plot >= 0) {
      const Plot& plot = plots_[at(plan.plot)];
      const bool in_plot = well_inside(plot.inside(i / labels.cols, i % labels.cols));
      id = in_plot ? static_cast<std::int32_t>(plot.material) + 1 : 0;
    } else {
      id = plan.labelled ? static_cast<std::int32_t>(plan.material) + 1 : 0;
    }
  }
}

/// `pixel`: as many values as there are bands.
void SyntheticScene::Land::fill(Index row, Index col, Eigen::ArrayXf& pixel) const {
  RandomStream random = pixel_stream(row, col);
  random.uniform();  // said whether it is dead
  const auto smooth = [&](const SmoothMap& map) {
    return map(static_cast<double>(row), static_cast<double>(col));
  };
  const Patchwork::Spot spot = patchwork_.locate(row, col);
  const FieldPlan& plan = field(spot.field);
  const double weeds = 0.5 * options_.mixing * squash(smooth(weeds_) + spread(random));
  const double bare = 0.5 * options_.mixing * squash(smooth(bare_) + plan.bare + spread(random));
  const double shade = options_.shading * (smooth(relief_) + 0.4 * spread(random));
  const double light = plan.brightness * std::max(0.2, 1 + shade);

  pixel.setZero();
  const auto add = [&](Index material, double share) {
    pixel += static_cast<float>(light * share) * spectra_.col(material).array();
  };
  double crop = covered(spot.inside);
  add(column(Extra::path, options_.classes), 1 - crop);
  if (plan.plot >= 0) {
    const Plot& plot = plots_[at(plan.plot)];
    const double rare = crop * covered(plot.inside(row, col));
    add(plot.material, rare);
    crop -= rare;
  }
  add(plan.material, crop * (1 - weeds - bare));
  add(plan.weed, crop * weeds);
  add(column(Extra::soil, options_.classes), crop * bare);
  for (Index b = 0; b < pixel.size(); ++b) pixel[b] += noise_[b] * near_normal(random);
}

SyntheticScene::SyntheticScene(const SyntheticOptions& options) {
  SyntheticOptions checked = options;
  validate(checked.fields());
  if (options.rows * options.cols > most_pixels)
    throw OptionError(fmt::format("rows * cols must be at most {}, not {}", most_pixels,
                                  options.rows * options.cols));
  info_ = {.path = "synthetic",
           .format = "synthetic",
           .rows = options.rows,
           .cols = options.cols,
           .bands = options.bands,
           .wavelengths = Vector::LinSpaced(options.bands, 0.4, 2.5),
           .no_data = -9999,
           .georeference = {utm_33_north, {{500000, 20, 0, 5400000, 0, -20}}}};
  for (Index b = 0; b < options.bands; ++b) info_.source_bands.push_back(b);
  labels_ = {.rows = options.rows,
             .cols = options.cols,
             .ids = {},
             .names = class_names(options.classes),
             .colours = default_colours(options.classes),
             .parts = {}};
  land_ = std::make_unique<const Land>(options, info_.wavelengths, labels_);
}

SyntheticScene::~SyntheticScene() = default;

void SyntheticScene::read(Index first, Index count, Strip& strip) {
  strip.pixels.resize(info_.bands, count * info_.cols);
  // A pixel is made in memory of its own: where it lies in the strip decides how its bands fall
  // into vector registers, and that could decide the last bit.
  std::vector<Eigen::ArrayXf> scratch(at(parallel_slots()), Eigen::ArrayXf(info_.bands));
  parallel_for(count, [&](Index row, Index slot) {
    for (Index col = 0; col < info_.cols; ++col) {
      auto pixel = strip.pixels.col(row * info_.cols + col);
      if (land_->valid(first + row, col)) {
        land_->fill(first + row, col, scratch[at(slot)]);
        pixel = scratch[at(slot)].matrix();
      } else {
        pixel.setConstant(static_cast<float>(*info_.no_data));
      }
    }
  });
  mark_valid(strip, info_.no_data);
}

Fields SyntheticOptions::fields() {
  return {
      {.name = "rows", .value = &rows, .help = "height in pixels", .lowest = 8, .highest = 1e7},
      {.name = "cols", .value = &cols, .help = "width in pixels", .lowest = 8, .highest = 1e5},
      {.name = "bands",
       .value = &bands,
       .help = "bands, evenly from 0.4 to 2.5 um",
       .lowest = 2,
       .highest = 10000},
      {.name = "classes",
       .value = &classes,
       .help = "classes; they come in pairs that look alike, and the last are rare",
       .lowest = 2,
       .highest = 64},
      {.name = "field",
       .value = &field,
       .help = "typical side of a field in pixels",
       .lowest = 4,
       .highest = 10000},
      {.name = "contrast",
       .value = &contrast,
       .help = "depth of the absorption features that tell a pair of classes apart",
       .lowest = 0,
       .highest = 0.5},
      {.name = "mixing",
       .value = &mixing,
       .help = "largest share of weeds and bare soil in a pixel",
       .lowest = 0,
       .highest = 1},
      {.name = "noise",
       .value = &noise,
       .help = "noise of the sensor, relative to a reflectance of 1",
       .lowest = 0,
       .highest = 1},
      {.name = "shading",
       .value = &shading,
       .help = "variation of the light by terrain and from pixel to pixel",
       .lowest = 0,
       .highest = 1},
      {.name = "labelled",
       .value = &labelled,
       .help = "share of the fields whose class is known",
       .lowest = 0,
       .highest = 1},
      {.name = "seed", .value = &seed, .help = "fixes everything random"},
  };
}

}  // namespace hyperatom
