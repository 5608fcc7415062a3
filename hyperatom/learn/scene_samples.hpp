// Training samples from a scene and its labels.
#pragma once

#include <span>
#include <vector>

#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/samples.hpp"
#include "hyperatom/scene/labels.hpp"
#include "hyperatom/scene/normalizer.hpp"
#include "hyperatom/scene/scene.hpp"

namespace hyperatom {

struct SceneSamples {
  Samples samples;
  std::vector<Index> pixels;     ///< of the scene: the centres of the samples
  std::vector<Index> class_ids;  ///< what the labels call the classes of the samples: classes that
                                 ///< have no pixel here are left out
  Index not_valid = 0;           ///< labelled pixels that were left out because they can't be used
};

/// The windows of `pixels` (ascending, labelled), normalised. Reads only the rows that are needed,
/// a few at a time. Throws DataError when no pixel is left.
SceneSamples gather_samples(SceneSource& source, const Labels& labels,
                            std::span<const Index> pixels, Index window,
                            const Normalizer& normalizer);

/// What the classes of a model are called: ids, names and colours of the samples' classes.
void name_classes(const SceneSamples& samples, const Labels& labels, Model& model);

/// A normaliser of this kind, fitted on valid pixels of the scene: all of them, or, above a
/// million, those of evenly spaced rows. A kind that learns nothing from pixels reads only until
/// one is valid. Throws DataError if none is.
Normalizer fit_normalizer(std::string_view kind, SceneSource& source);

}  // namespace hyperatom
