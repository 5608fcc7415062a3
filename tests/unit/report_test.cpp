// The page of a report: what is put into it comes out of it again, and no text of it can become
// markup.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/scene_samples.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/report/accuracy_report.hpp"
#include "hyperatom/report/comparison_report.hpp"
#include "hyperatom/report/composite.hpp"
#include "hyperatom/report/map_report.hpp"
#include "hyperatom/report/page.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace hyperatom {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view viewer = "<html><!--hyperatom:data--><p>after</p></html>";

/// Text of the element with that id; fails the test where there is none.
std::string element(const std::string& page, const std::string& id) {
  const std::string head = "<script id=\"" + id + "\"";
  const size_t begin = page.find(head);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "no element " << id;
    return "";
  }
  const size_t from = page.find('>', begin) + 1;
  return page.substr(from, page.find("</script>", from) - from);
}

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 255);
  }
  return bytes;
}

std::string inflated(const std::string& bytes) {
  std::string result(1 << 22, '\0');
  uLongf size = static_cast<uLongf>(result.size());
  EXPECT_EQ(
      uncompress(reinterpret_cast<Bytef*>(result.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size())),
      Z_OK);
  result.resize(size);
  return result;
}

std::string block(const std::string& page, const std::string& name) {
  return inflated(from_base64(element(page, "block-" + name)));
}

TEST(Page, BytesComeBack) {
  for (const size_t length : {0, 1, 2, 3, 4, 255, 10000}) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(i * i * 31 % 256);
    const std::string page = fill_page(viewer, Json::object(), {make_block("some-name", bytes)});
    EXPECT_EQ(block(page, "some-name"), bytes) << length;
    EXPECT_THAT(page, testing::EndsWith("<p>after</p></html>"));
  }
}

TEST(Page, TextStaysText) {
  for (const std::string text : {"</script><script>alert(1)</script>", "<!--", "<![CDATA[",
                                 "\xff\xfe", "\u2028", "a\"b\\c"}) {
    const std::string page = fill_page(viewer, {{"name", text}}, {});
    const std::string inside = element(page, "report");
    EXPECT_EQ(inside.find('<'), std::string::npos) << text;
    EXPECT_TRUE(std::ranges::all_of(inside, [](char c) { return c >= ' ' && c < 127; })) << text;
    if (text[0] != '\xff') {
      EXPECT_EQ(Json::parse(inside)["name"], text);
    }
  }
}

TEST(Page, AViewerWithoutAPlaceIsRefused) {
  EXPECT_THROW(fill_page("<html></html>", Json::object(), {}), Error);
}

Scene three_colours(const Vector& wavelengths) {
  Scene scene;
  scene.info = {.path = "",
                .format = "",
                .rows = 1,
                .cols = 100,
                .bands = wavelengths.size(),
                .wavelengths = wavelengths};
  scene.data.pixels.resize(wavelengths.size(), 100);
  for (Index i = 0; i < 100; ++i) scene.data.pixels.col(i).setConstant(static_cast<float>(i));
  scene.data.valid.assign(100, 1);
  return scene;
}

TEST(Composite, BandsByWavelength) {
  Vector wavelengths(5);
  wavelengths << 0.47, 0.55, 0.65, 0.86, 2.2;
  Composite composite = make_composite(three_colours(wavelengths));
  EXPECT_THAT(composite.bands, ElementsAre(3, 2, 1));
  EXPECT_EQ(composite.kind, "false colour");
  composite = make_composite(three_colours(wavelengths.head(3)));
  EXPECT_THAT(composite.bands, ElementsAre(2, 1, 0));
  EXPECT_EQ(composite.kind, "true colour");
  wavelengths.setConstant(2);
  EXPECT_EQ(make_composite(three_colours(wavelengths)).kind, "three bands");
}

TEST(Composite, StretchesFromThe2ndToThe98thPercentile) {
  Scene scene = three_colours(Vector::Constant(1, 0.5));
  scene.data.valid[50] = 0;
  const std::vector<std::uint8_t> rgb = make_composite(scene).rgb;
  EXPECT_EQ(rgb[0], 0);
  EXPECT_EQ(rgb[3 * 1], 0);  // 99 valid pixels: the second lowest
  EXPECT_GT(rgb[3 * 2], 0);
  EXPECT_LT(rgb[3 * 97], 255);
  EXPECT_EQ(rgb[3 * 98], 255);
  EXPECT_EQ(rgb[3 * 50], 0);
  EXPECT_NEAR(rgb[3 * 49], 255 * 48 / 97.0, 1);
}

// ---- The report of a map

struct Fixture {
  Scene scene;
  Labels labels;
  Split split;
  Model model;
};

Fixture make_fixture(Index bands = 15) {
  Fixture f;
  SyntheticScene synthetic(
      {.rows = 20, .cols = 24, .bands = bands, .classes = 3, .field = 5, .labelled = 1, .seed = 5});
  f.scene = read_all(synthetic);
  f.labels = synthetic.labels();
  f.labels.names[1] = "</script><b>";
  f.scene.data.pixels.col(30).setZero();
  mark_valid(f.scene.data, std::nullopt);
  f.split = make_split(f.labels, {.per_class = 12, .seed = 1});
  const auto source = make_source(f.scene);
  const Normalizer normalizer = fit_normalizer("unit", *source);
  const SceneSamples samples = gather_samples(*source, f.labels, f.split.train, 9, normalizer);
  TrainOptions options;
  options.epochs = 3;
  Trainer trainer(samples.samples, options);
  trainer.run();
  f.model = trainer.model();
  f.model.normalizer = normalizer;
  f.model.class_ids = samples.class_ids;
  f.model.class_names = f.labels.names;
  f.model.class_colours = f.labels.colours;
  f.model.wavelengths = f.scene.info.wavelengths;
  return f;
}

const Heading heading = {
    .title = "title", .program = "hyperatom", .date = "today", .command = "hyperatom report"};

MapReport content(const Fixture& f) {
  return {.heading = heading,
          .scene = f.scene,
          .model = f.model,
          .model_file = "model",
          .model_hash = "hash",
          .truth = &f.labels,
          .split = &f.split,
          .training = {{1, 0.5, 0.9}, {2, 0.25, 0.95, 0.3, 0.9}}};
}

float float_at(const std::string& bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

/// What the page says of spectra, held against the scene.
void expect_spectra(const std::string& page, const Fixture& f) {
  const Json json = Json::parse(element(page, "report"))["spectra"];
  const std::vector<Index> bands = json["bands"];
  std::vector<Index> pixels;
  for (Index i = 0; i < 480; ++i)
    if (json["pixels"] == "all" || f.labels.id(i) > 0) pixels.push_back(i);
  const std::string bytes = block(page, "spectra");
  ASSERT_EQ(bytes.size(), pixels.size() * bands.size());
  for (size_t p = 0; p < pixels.size(); ++p) {
    unsigned q = 0;
    for (size_t k = 0; k < bands.size(); ++k) {
      q = (q + static_cast<unsigned char>(bytes[k * pixels.size() + p])) & 255;
      const double low = json["low"][at(bands[k])], high = json["high"][at(bands[k])];
      const double share = q / 255.0, value = low + (high - low) * share * share;
      if (!f.scene.data.valid[at(pixels[p])]) continue;
      ASSERT_NEAR(value, f.scene.data.pixels(bands[k], pixels[p]), (high - low) / 255)
          << pixels[p] << ' ' << bands[k];
    }
  }
}

TEST(MapReport, CodesAndScoresAreThoseOfTheClassifier) {
  const Fixture f = make_fixture();
  const std::string page = make_page(content(f), viewer, 1 << 24).html;
  const Json json = Json::parse(element(page, "report"));
  const std::string codes = block(page, "codes"), scales = block(page, "scales"),
                    scores = block(page, "scores"), ids = block(page, "prediction"),
                    atoms = block(page, "atoms");
  const auto source = make_source(f.scene);
  const Classifier classifier(f.model);
  size_t next = 0;
  double worst_reconstruction = 0;
  for (Index i = 0; i < 480; ++i) {
    const auto n = static_cast<unsigned char>(codes[next++]);
    if (!f.scene.data.valid[at(i)]) {
      EXPECT_EQ(n, 0);
      EXPECT_EQ(ids[at(i)], 0);
      continue;
    }
    const Explanation why = classifier.explain(*source, i / 24, i % 24);
    ASSERT_EQ(n, why.code.active.size()) << i;
    EXPECT_EQ(ids[at(i)], f.model.class_ids[at(why.class_index)]);
    const float weight_scale = float_at(scales, 2 * at(i)),
                part_scale = float_at(scales, 2 * at(i) + 1);
    Vector reconstruction = Vector::Zero(15);
    for (size_t k = 0; k < n; ++k, next += 3) {
      const auto atom = static_cast<unsigned char>(codes[next]);
      EXPECT_EQ(atom, why.code.active[k]);
      EXPECT_NEAR(weight_scale * static_cast<signed char>(codes[next + 1]) / 127,
                  why.code.A(static_cast<Index>(k), 0), weight_scale / 200);
      const double part = part_scale * static_cast<signed char>(codes[next + 2]) / 127;
      for (Index b = 0; b < 15; ++b) reconstruction[b] += part * float_at(atoms, at(atom * 15 + b));
    }
    const Vector x = f.scene.data.pixels.col(i).cast<double>();
    worst_reconstruction = std::max(worst_reconstruction, (reconstruction - x).norm() / x.norm());
    const double low = json["scores"]["low"], high = json["scores"]["high"];
    for (Index c = 0; c < 3; ++c)
      EXPECT_NEAR(low + (high - low) * static_cast<unsigned char>(scores[at(i * 3 + c)]) / 255,
                  why.scores[c], (high - low) / 400);
  }
  EXPECT_EQ(next, codes.size());
  EXPECT_LT(worst_reconstruction, 0.2);
}

TEST(MapReport, LayersAndTables) {
  const Fixture f = make_fixture();
  const std::string page = make_page(content(f), viewer, 1 << 24).html;
  const Json json = Json::parse(element(page, "report"));
  EXPECT_THAT(json["layers"].get<std::vector<std::string>>(),
              ElementsAre("rgb", "prediction", "confidence", "novelty", "truth", "split"));
  const std::string truth = block(page, "truth"), sides = block(page, "split"),
                    ids = block(page, "prediction");
  std::map<std::pair<int, int>, Index> counts;
  Index right = 0;
  for (Index i = 0; i < 480; ++i) {
    EXPECT_EQ(truth[at(i)], f.labels.id(i));
    if (sides[at(i)] == 2) ++counts[{truth[at(i)], ids[at(i)]}];
    if (sides[at(i)] == 2 && truth[at(i)] == ids[at(i)]) ++right;
  }
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(sides, 1)), f.split.train.size());
  EXPECT_EQ(json["accuracy"]["pixels"], f.split.test.size());
  EXPECT_EQ(json["accuracy"]["correct"], right);
  for (int t = 1; t <= 3; ++t)
    for (int p = 1; p <= 3; ++p)
      EXPECT_EQ(
          json["accuracy"]["confusion"][static_cast<size_t>(t - 1)][static_cast<size_t>(p - 1)],
          (counts[{t, p}]));
  EXPECT_EQ(json["classes"][1]["name"], "</script><b>");
  EXPECT_EQ(json["model"]["training"].size(), 2U);
  EXPECT_EQ(json["model"]["training"][1]["validation_loss"], 0.3);
  Index used = 0, certified = 0;
  for (const Json& usage : json["model"]["usage"]) used += usage.get<Index>();
  for (const Json& count : json["model"]["certificate"]["counts"]) certified += count.get<Index>();
  const Index valid = std::ranges::count(f.scene.data.valid, 1);
  EXPECT_LT(valid, 480);
  EXPECT_GT(used, valid);
  EXPECT_EQ(certified, valid);
  const std::string window = block(page, "window");
  EXPECT_EQ(window.size(), 9U * 4);
  EXPECT_EQ(window.substr(0, 4), std::string(4, '\0'));
}

/// Smaller and smaller pages leave more and more out, and say so.
TEST(MapReport, FitsTheSizeThatItMayHave) {
  const Fixture f = make_fixture(81);
  std::vector<std::string> kept;
  for (size_t most = 1 << 24;;) {
    ReportPage page;
    try {
      page = make_page(content(f), viewer, most);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("expected at most"));
      break;
    }
    EXPECT_LE(page.html.size(), most);
    most = page.html.size() - 1;
    const Json json = Json::parse(element(page.html, "report"));
    EXPECT_EQ(json["reduced"].get<std::vector<std::string>>(), page.reduced);
    const std::string which = json["spectra"]["pixels"];
    if (which != "none") expect_spectra(page.html, f);
    kept.push_back(fmt::format("{} {}{}", which, json["spectra"]["bands"].size(),
                               json["codes"].is_null() ? "" : " codes"));
  }
  // Nearly all pixels of this scene are labelled, so that the labelled ones with all of their bands
  // take more than all with fewer.
  EXPECT_THAT(
      kept, ElementsAre("all 81 codes", "all 41 codes", "all 21 codes", "none 0 codes", "none 0"));
}

TEST(MapReport, LabelledPixelsKeepTheirSpectra) {
  Fixture f = make_fixture();
  for (Index i = 0; i < 480; ++i)
    if (i % 3 != 0) f.labels.ids[at(i)] = 0;
  MapReport report = content(f);
  report.split = nullptr;
  const size_t all = make_page(report, viewer, 1 << 24).html.size();
  const ReportPage page = make_page(report, viewer, all - 1);
  EXPECT_EQ(Json::parse(element(page.html, "report"))["spectra"]["pixels"], "labelled");
  expect_spectra(page.html, f);
}

TEST(MapReport, WithoutTruthThereIsNoAccuracy) {
  const Fixture f = make_fixture();
  MapReport report = content(f);
  report.truth = nullptr;
  report.split = nullptr;
  const Json json = Json::parse(element(make_page(report, viewer, 1 << 24).html, "report"));
  EXPECT_TRUE(json["accuracy"].is_null());
  EXPECT_TRUE(json["split"].is_null());
  EXPECT_EQ(json["areas"].size(), 3U);
}

TEST(MapReport, StopsWhenAsked) {
  const Fixture f = make_fixture();
  EXPECT_TRUE(make_page(content(f), viewer, 1 << 24, [](Index) { return false; }).html.empty());
}

// ---- Other reports

TEST(Document, AreasAreInSquareMetresWhateverTheUnit) {
  const auto areas = [](const std::string& crs) {
    SceneInfo info;
    info.rows = info.cols = 2;
    info.georeference = {crs, std::array<double, 6>{0, 10, 0, 0, 0, -10}};
    Document document({}, info, ClassList(2));
    document.add_areas({1, 1, 2, 0});
    return Json(document.json["areas"]);
  };
  const std::string degrees = R"(GEOGCS["WGS 84",UNIT["degree",0.0174532925199433]])";
  const Json metres = areas("PROJCS[\"a\"," + degrees + R"(,UNIT["metre",1]])");
  EXPECT_EQ(metres[0]["square_metres"], 200);
  EXPECT_EQ(metres[1]["square_metres"], 100);
  EXPECT_DOUBLE_EQ(metres[0]["share"], 2.0 / 3);
  const Json feet =
      areas("PROJCS[\"b\"," + degrees + R"(,UNIT["US survey foot",0.5,AUTHORITY["c","d"]]])");
  EXPECT_EQ(feet[0]["square_metres"], 50);
  EXPECT_EQ(
      areas(R"(PROJCRS["e",AXIS["f",north,LENGTHUNIT["kilometre",1000]]])")[1]["square_metres"],
      1e8);
  for (const std::string& crs : {degrees, std::string(), std::string("PROJCS[\"g\"]"),
                                 std::string("PROJCS[\"h\",UNIT[\"metre\",much]]")})
    EXPECT_TRUE(areas(crs)[0]["square_metres"].is_null()) << crs;
}

TEST(AccuracyReport, HasTheMapItsTruthAndTables) {
  const Fixture f = make_fixture();
  Labels map = f.labels;
  for (Index i = 0; i < 480; i += 7) map.ids[at(i)] = 1;
  map.ids[9] = 0;
  const Confusion confusion = compare(map, f.labels, f.split.test);
  const SceneInfo grid = {.path = "folder/map.tif", .format = "", .rows = 20, .cols = 24};
  AccuracyReport report{.heading = heading,
                        .grid = grid,
                        .map = map,
                        .truth = f.labels,
                        .confusion = confusion,
                        .split = &f.split,
                        .window = 9};
  const std::string page = make_page(report, viewer, 1 << 24).html;
  const Json json = Json::parse(element(page, "report"));
  EXPECT_EQ(json["scene"]["file"], "map.tif");
  EXPECT_TRUE(json["scene"]["composite"].is_null());
  EXPECT_TRUE(json["model"].is_null());
  EXPECT_THAT(json["layers"].get<std::vector<std::string>>(),
              ElementsAre("prediction", "truth", "split"));
  const std::string ids = block(page, "prediction"), truth = block(page, "truth"),
                    sides = block(page, "split");
  Index right = 0;
  std::vector<Index> areas(3, 0);
  for (Index i = 0; i < 480; ++i) {
    ASSERT_EQ(ids[at(i)], map.ids[at(i)]);
    right += sides[at(i)] == 2 && truth[at(i)] > 0 && ids[at(i)] == truth[at(i)];
    if (ids[at(i)] > 0) ++areas[at(ids[at(i)] - 1)];
  }
  EXPECT_EQ(json["accuracy"]["correct"], right);
  EXPECT_EQ(json["accuracy"]["on"], "test pixels");
  for (size_t c = 0; c < 3; ++c) EXPECT_EQ(json["areas"][c]["pixels"], areas[c]);
  EXPECT_FALSE(json["split"]["leakage"].is_null());

  report.split = nullptr;
  report.window = 0;
  const Json bare = Json::parse(element(make_page(report, viewer, 1 << 24).html, "report"));
  EXPECT_TRUE(bare["split"].is_null());
  EXPECT_THAT(bare["accuracy"]["on"].get<std::string>(), HasSubstr("training included"));
  EXPECT_THROW(make_page(report, viewer, 1000), DataError);
}

TEST(ComparisonReport, HasEveryMethodsFiguresAndItsMap) {
  const Fixture f = make_fixture();
  Model other = f.model;
  other.method = "sdl-l1-k";
  other.weights.setZero();
  other.bias.setZero();
  other.bias[2] = 1;  // says class 3 of all
  const std::vector<Model> models = {f.model, other};
  const std::vector<Cell> cells = {{.method = f.model.method,
                                    .repeat = 1,
                                    .overall = 0.9,
                                    .average = 0.8,
                                    .kappa = 0.7,
                                    .settings = ""},
                                   {.method = f.model.method,
                                    .repeat = 2,
                                    .overall = 0.8,
                                    .average = 0.7,
                                    .kappa = NAN,
                                    .settings = ""}};
  const ComparisonReport report{.heading = heading,
                                .scene = f.scene,
                                .truth = f.labels,
                                .split = f.split,
                                .cells = cells,
                                .paper = &paper_table("indian-pines"),
                                .models = models};
  const ReportPage made = make_page(report, viewer, 1 << 24);
  const Json json = Json::parse(element(made.html, "report"));
  const Json& row = json["comparison"]["table"][0];
  EXPECT_EQ(json["comparison"]["table"].size(), 1U);
  EXPECT_EQ(row["repeats"][1]["oa"], 0.8);
  EXPECT_TRUE(row["repeats"][1]["kappa"].is_null());
  EXPECT_EQ(row["paper"]["oa"], paper_table("indian-pines").row(f.model.method).overall / 100);
  EXPECT_THAT(json["comparison"]["maps"].get<std::vector<std::string>>(),
              ElementsAre(f.model.method, "sdl-l1-k"));
  const std::string first = block(made.html, "map-" + f.model.method),
                    second = block(made.html, "map-sdl-l1-k");
  const auto source = make_source(f.scene);
  const Classifier classifier(f.model);
  for (Index i = 0; i < 480; ++i) {
    if (!f.scene.data.valid[at(i)]) {
      EXPECT_EQ(first[at(i)], 0);
      continue;
    }
    EXPECT_EQ(first[at(i)],
              f.model.class_ids[at(classifier.explain(*source, i / 24, i % 24).class_index)]);
    EXPECT_EQ(second[at(i)], 3);
  }
  EXPECT_EQ(json["spectra"]["pixels"], "all");
  EXPECT_TRUE(make_page(report, viewer, 1 << 24, [](Index) { return false; }).html.empty());
  EXPECT_THROW(make_page(report, viewer, 1000), DataError);
}

}  // namespace
}  // namespace hyperatom
