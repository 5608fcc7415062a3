// What a scene and its labels give to learn from and to test on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/hyperatom/accuracy.hpp"
#include "apps/hyperatom/request.hpp"
#include "hyperatom/learn/scene_samples.hpp"

namespace hyperatom::cli {

class Material {
 public:
  std::unique_ptr<SceneSource> source;
  Labels labels;  ///< of the training pixels
  Labels truth;   ///< of the test pixels
  Split split;
  Normalizer normalizer;

  /// The training pixels with windows of that size, gathered when first asked for.
  const SceneSamples& samples(Index window);
  /// From now on these pixels. Throws DataError, naming `path`, unless the labels have them.
  void use(Split other, const TrainRequest& request, const std::string& path);

 private:
  std::map<Index, SceneSamples> samples_;
};

/// Reads all that the request names. Throws DataError.
Material prepare(const TrainRequest& request, Console& console);

/// Tells what a user should know of the training pixels. Throws DataError when they are all of one
/// class.
void tell_classes(const SceneSamples& samples, const Material& material,
                  const TrainRequest& request, Console& console);

/// Fills in what training does not know of: normaliser, wavelengths, classes, provenance.
void complete(Model& model, Material& material, const TrainRequest& request,
              const std::vector<std::string>& command);

/// The model on the test pixels.
struct Tested {
  Accuracy accuracy;
  double seconds = 0;  ///< to classify the rows that have them
};
Tested test(const Model& model, Material& material, Console& console);

}  // namespace hyperatom::cli
