#include "hyperatom/learn/checkpoint_file.hpp"

#include <fmt/format.h>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/safetensors.hpp"

namespace hyperatom {
namespace {

constexpr const char* format = "hyperatom-checkpoint";
constexpr const char* schema = "1";

void put(TensorFile& file, const std::string& prefix, const Parameters& p) {
  file.put_matrix(prefix + ".D", p.D);
  file.put_matrix(prefix + ".W", p.W);
  file.put_vector(prefix + ".b", p.b);
}

Parameters get(const TensorFile& file, const std::string& prefix) {
  return {file.get_matrix(prefix + ".D"), file.get_matrix(prefix + ".W"),
          file.get_vector(prefix + ".b")};
}

/// Every part must have the shape of the parameters.
void check_shapes(const Checkpoint& c, const std::string& name) {
  const auto same = [&](const Parameters& p) {
    return p.D.rows() == c.parameters.D.rows() && p.D.cols() == c.parameters.D.cols() &&
           p.W.rows() == c.parameters.W.rows() && p.W.cols() == c.parameters.D.cols() &&
           p.b.size() == c.parameters.W.rows() && p.D.allFinite() && p.W.allFinite() &&
           p.b.allFinite();
  };
  const bool fits = same(c.parameters) && same(c.moments.first) && same(c.moments.second) &&
                    (c.best_epoch == 0 || same(c.best)) && c.step >= 0 && c.best_epoch >= 0 &&
                    static_cast<Index>(c.atom_classes.size()) == c.parameters.atoms();
  if (!fits)
    throw DataError(fmt::format("{}: the parts of the checkpoint don't fit together", name));
  for (const WarmStart& start : c.warm)
    for (const Index row : start.rows)
      if (row < 0 || row >= c.parameters.atoms())
        throw DataError(
            fmt::format("{}: a code names atom {} of {}", name, row, c.parameters.atoms()));
}

}  // namespace

void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  TensorFile file;
  TrainOptions options = checkpoint.options;
  file.metadata = {{"format", format},
                   {"schema", schema},
                   {"options", to_json(options.fields())},
                   {"fingerprint", checkpoint.fingerprint}};
  put(file, "parameters", checkpoint.parameters);
  put(file, "moments.first", checkpoint.moments.first);
  put(file, "moments.second", checkpoint.moments.second);
  if (checkpoint.best_epoch > 0) put(file, "best", checkpoint.best);
  file.put_integers("counters", {checkpoint.step, checkpoint.best_epoch});
  file.put_vector(
      "best.score",
      (Vector(2) << checkpoint.best_score.loss, checkpoint.best_score.accuracy).finished());
  file.put_integers("atom.class", checkpoint.atom_classes);

  std::vector<Index> lengths, rows;
  std::vector<double> values;
  for (const WarmStart& start : checkpoint.warm) {
    lengths.push_back(static_cast<Index>(start.rows.size()));
    rows.insert(rows.end(), start.rows.begin(), start.rows.end());
    values.insert(values.end(), start.values.begin(), start.values.end());
  }
  file.put_integers("warm.lengths", lengths);
  file.put_integers("warm.rows", rows);
  file.put_vector("warm.values",
                  Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
  write_tensor_file(path, file);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  const TensorFile file = read_tensor_file(path);
  if (file.get_text("format") != format || file.get_text("schema") != schema)
    throw DataError(fmt::format("{}: format '{}' schema '{}', expected '{}' schema '{}'",
                                path.string(), file.get_text("format"), file.get_text("schema"),
                                format, schema));
  Checkpoint checkpoint;
  try {
    from_json(file.get_text("options"), checkpoint.options.fields());
  } catch (const OptionError& error) {
    throw DataError(fmt::format("{}: {}", path.string(), error.what()));
  }
  checkpoint.fingerprint = file.get_text("fingerprint");
  checkpoint.parameters = get(file, "parameters");
  checkpoint.moments = {get(file, "moments.first"), get(file, "moments.second")};
  const std::vector<Index> counters = file.get_integers("counters");
  const Vector score = file.get_vector("best.score");
  const std::vector<Index> lengths = file.get_integers("warm.lengths");
  const std::vector<Index> rows = file.get_integers("warm.rows");
  const Vector values = file.get_vector("warm.values");
  if (counters.size() != 2 || score.size() != 2 || values.size() != static_cast<Index>(rows.size()))
    throw DataError(
        fmt::format("{}: the parts of the checkpoint don't fit together", path.string()));
  checkpoint.step = counters[0];
  checkpoint.best_epoch = counters[1];
  checkpoint.best_score = {score[0], score[1]};
  if (checkpoint.best_epoch > 0) checkpoint.best = get(file, "best");
  checkpoint.atom_classes = file.get_integers("atom.class");
  size_t used = 0;
  for (const Index length : lengths) {
    if (length < 0 || static_cast<size_t>(length) > rows.size() - used)
      throw DataError(fmt::format("{}: a code of {} rows, {} are left", path.string(), length,
                                  rows.size() - used));
    WarmStart& start = checkpoint.warm.emplace_back();
    for (Index k = 0; k < length; ++k, ++used) {
      start.rows.push_back(rows[used]);
      start.values.push_back(values[static_cast<Index>(used)]);
    }
  }
  check_shapes(checkpoint, path.string());
  return checkpoint;
}

}  // namespace hyperatom
