// `hyperatom synth`: a synthetic scene and its labels as files.
#include <fmt/format.h>

#include "apps/hyperatom/synthesis.hpp"
#include "hyperatom/io/writing.hpp"

namespace hyperatom::cli {
namespace {

class Synth final : public Verb {
 public:
  std::string name() const override { return "synth"; }
  std::string summary() const override { return "Makes a synthetic scene with labels."; }
  std::string example() const override {
    return "hyperatom synth -o scene.img --labels labels.tif --rows 300 --cols 300 --seed 1";
  }

  void declare(Arguments& arguments) override {
    using Need = Arguments::Need;
    arguments.option({.name = "output", .value = &scene_, .help = "the scene to make"}, 'o',
                     Need::required);
    arguments.option({.name = "labels", .value = &labels_, .help = "the labels to make (GeoTIFF)"},
                     0, Need::required);
    arguments.option({.name = "of",
                      .value = &format_,
                      .help = "format of the scene, by GDAL's name",
                      .choices = {"ENVI", "GTiff"}});
    arguments.flag("overwrite", overwrite_, "replace what is there");
    Fields fields = options_.fields();
    std::erase_if(fields, [](const Field& field) { return field.name == "seed"; });
    for (const Field& field : fields) arguments.option(field);
  }

  Result run(const Common& common, Console& console) override {
    options_.seed = common.seed;
    expect_apart({{"--output", scene_, format_ == "ENVI"}, {"--labels", labels_, false, true}}, {});
    for (const std::string& file : {scene_, labels_}) {
      expect_free(file, overwrite_);
      expect_folder(file);
    }
    SyntheticScene scene(options_);
    write_scene(scene, scene_, {.format = format_, .overwrite = overwrite_}, console);
    write_labels(scene, labels_, {.overwrite = overwrite_});
    const SceneInfo& info = scene.info();
    return {{{"scene", scene_},
             {"labels", labels_},
             {"rows", info.rows},
             {"cols", info.cols},
             {"bands", info.bands},
             {"classes", class_list(scene.labels())}},
            fmt::format("{}: {} x {} pixels, {} bands\n{}: {}\n", scene_, info.rows, info.cols,
                        info.bands, labels_, class_counts(scene.labels()))};
  }

 private:
  SyntheticOptions options_;
  std::string scene_, labels_, format_ = "ENVI";
  bool overwrite_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_synth() { return std::make_unique<Synth>(); }

}  // namespace hyperatom::cli
