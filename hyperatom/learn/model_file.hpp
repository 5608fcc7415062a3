// A Model as a file: the safetensors container (base/safetensors.hpp) with
//
//   tensors    dictionary [atoms, bands]  weights [atoms, classes]  bias [classes]
//              norm.offset [bands]  norm.scale [bands]  wavelength_um [bands, or 0]    F64
//              atom.class [atoms]  class.id [classes]                                  I64
//              class.rgb [classes, 3]                                                  U8
//   metadata   format      "hyperatom"
//              schema      "1"
//              spec        JSON object: method kernel loss lambda1 lambda2 tolerance max_steps
//              window
//                          normalizer
//              classes     JSON array of the names
//              provenance  JSON object of texts
//              sha256      of the file
//
// Loading gives back every bit that was saved, and saving that gives the same file. Whatever can't
// be a model is refused with a DataError that begins with the path and names the field. Further
// tensors and metadata are ignored, so that a file may be a model and more.
#pragma once

#include <filesystem>
#include <string>

#include "hyperatom/base/safetensors.hpp"
#include "hyperatom/learn/model.hpp"

namespace hyperatom {

/// Throws DataError for a model that is not valid, IoError when the file can't be written; then
/// what was at the path is still there.
void save_model(const Model& model, const std::filesystem::path& path);
Model load_model(const std::filesystem::path& path);

/// SHA-256 of its tensors: what a map can be traced to.
std::string model_hash(const Model& model);

/// The two steps between a model and its bytes.
TensorFile pack_model(const Model& model);
Model unpack_model(const TensorFile& file);

}  // namespace hyperatom
