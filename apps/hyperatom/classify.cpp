// `hyperatom classify`: a scene and a model to a map.
#include "apps/hyperatom/mapping.hpp"

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
    request_.output.declare(arguments);
  }

  Result run(const Common&, Console& console) override { return classify(request_, console); }

 private:
  MapRequest request_;
};

}  // namespace

std::unique_ptr<Verb> make_classify() { return std::make_unique<Classify>(); }

}  // namespace hyperatom::cli
