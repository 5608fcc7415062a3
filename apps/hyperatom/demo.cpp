// `hyperatom demo`: the whole way from a scene to a map, with nothing to download.
#include <fmt/format.h>

#include "apps/hyperatom/mapping.hpp"
#include "apps/hyperatom/picture_panels.hpp"
#include "apps/hyperatom/reporting.hpp"
#include "apps/hyperatom/run_folder.hpp"
#include "apps/hyperatom/synthesis.hpp"
#include "apps/hyperatom/training.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/io/picture.hpp"
#include "hyperatom/io/writing.hpp"
#include "hyperatom/report/composite.hpp"
#include "hyperatom/report/page.hpp"

namespace hyperatom::cli {
namespace {

namespace fs = std::filesystem;

class Demo final : public Verb {
 public:
  std::string name() const override { return "demo"; }
  std::string summary() const override {
    return "Makes a synthetic scene, trains on a few pixels of it, and maps it.";
  }
  std::string example() const override { return "hyperatom demo -o demo"; }

  void declare(Arguments& arguments) override {
    arguments.option({.name = "output", .value = &folder_, .help = "the folder to make"}, 'o');
    arguments.flag("overwrite", overwrite_, "replace the demo that is there");
  }

  Result run(const Common& common, Console& console) override {
    for (const char* name : {"scene.img", "scene.hdr", "labels.tif", "split.json", "map.tif",
                             "confidence.tif", "map.png"})
      expect_free(file(name), overwrite_);
    RunFolder(file("run")).expect_free(overwrite_);
    const MadeFolder made(folder_);
    SyntheticScene scene({.seed = common.seed});
    console.say("making a scene");
    write_scene(scene, file("scene.img"), {.format = "ENVI", .overwrite = overwrite_}, console);
    write_labels(scene, file("labels.tif"), {.overwrite = overwrite_});
    save_split(make_split(scene.labels(), {.per_class = 10, .seed = common.seed}),
               file("split.json"));

    TrainRequest request{.scene = {.path = file("scene.img")},
                         .labels = {.path = file("labels.tif")},
                         .split = file("split.json")};
    const Result trained = train(request, file("run"), overwrite_, common, console);
    console.say("making the map");
    const MapRequest map{.scene = {.path = file("scene.img")},
                         .model = file("run"),
                         .map = file("map.tif"),
                         .confidence = file("confidence.tif"),
                         .output = {.overwrite = overwrite_}};
    const Result mapped = classify(map, console);
    draw(scene);
    Json json = {{"folder", folder_},     {"map", file("map.tif")},  {"picture", file("map.png")},
                 {"train", trained.json}, {"classify", mapped.json}, {"report", nullptr}};
    std::string text = trained.text + mapped.text +
                       fmt::format("picture of scene, labels and map: {}\n", file("map.png"));
    if (viewer_page().empty()) {
      text += "no report: this hyperatom was built without the viewer (which needs Node.js)\n";
    } else {
      console.say("making the report");
      const Result page = report(
          {.scene = {.path = file("scene.img")}, .model = file("run"), .overwrite = overwrite_},
          common, console);
      json["report"] = page.json;
      text += page.text;
    }
    return {json, text + fmt::format("all of it is in {}\n", folder_)};
  }

 private:
  std::string file(const char* name) const { return (fs::path(folder_) / name).string(); }

  void draw(SyntheticScene& scene) const {
    constexpr Colour unlabelled = {235, 235, 235}, not_classified = {0, 0, 0};
    const Labels map = read_label_raster(file("map.tif")).labels;
    const Picture seen{map.rows, map.cols, make_composite(read_all(scene)).rgb};
    const Picture picture = side_by_side(
        {seen, class_picture(scene.labels(), unlabelled), class_picture(map, not_classified)}, 3);
    write_png(file("map.png"), picture.rows, picture.cols, picture.rgb, overwrite_);
  }

  std::string folder_ = "hyperatom-demo";
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_demo() { return std::make_unique<Demo>(); }

}  // namespace hyperatom::cli
