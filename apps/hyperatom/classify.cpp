// `hyperatom classify`: a scene and a model to a map.
#include "apps/hyperatom/mapping.hpp"
#include "apps/hyperatom/reporting.hpp"
#include "hyperatom/base/error.hpp"

namespace hyperatom::cli {
namespace {

class Classify final : public Verb {
 public:
  std::string name() const override { return "classify"; }
  std::string summary() const override { return "Applies a model to a scene of any size."; }
  std::string example() const override {
    return "hyperatom classify scene.bsq -m runs/crop -o map.tif --confidence confidence.tif";
  }

  void declare(Arguments& arguments) override {
    using Need = Arguments::Need;
    request_.scene.declare(arguments);
    arguments.option(
        {.name = "model", .value = &request_.model, .help = "a run folder or a model file"}, 'm',
        Need::required);
    arguments.option({.name = "output", .value = &request_.map, .help = "the map to make"}, 'o',
                     Need::required);
    arguments.option({.name = "scores",
                      .value = &request_.scores,
                      .help = "also make a raster of class scores, one band each"});
    arguments.option({.name = "confidence",
                      .value = &request_.confidence,
                      .help = "also make a raster of how sure the class is, 0 to 1"});
    arguments.option(
        {.name = "novelty",
         .value = &request_.novelty,
         .help = "also make a raster of how badly the dictionary explains a pixel, 0 to 1"});
    arguments.option({.name = "ram",
                      .value = &request_.ram,
                      .help = "megabytes to work in",
                      .lowest = 1,
                      .highest = 1e7});
    arguments.option({.name = "shard",
                      .value = &request_.shard,
                      .help = "i/n: only the i-th of n parts of the rows, for job arrays"});
    arguments.flag("report", report_, "also make a page to look at, beside the map: map.html");
    request_.output.declare(arguments);
  }

  Result run(const Common& common, Console& console) override {
    if (!report_) return classify(request_, console);
    if (!request_.shard.empty())
      throw OptionError("--report shows a whole scene, of which --shard is a part: give one");
    const ReportRequest page{
        .scene = request_.scene,
        .model = request_.model,
        .page = std::filesystem::path(request_.map).replace_extension(".html").string(),
        .overwrite = request_.output.overwrite};
    expect_page(page);
    Result result = classify(request_, console);
    append_page(result, report(page, common, console));
    return result;
  }

 private:
  MapRequest request_;
  bool report_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_classify() { return std::make_unique<Classify>(); }

}  // namespace hyperatom::cli
