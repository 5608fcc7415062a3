// The C++ core as a Python module, hyperatom._core: arrays in, arrays out. What a scikit-learn
// estimator, a DataArray or a Dask cluster needs beyond that is Python, in python/hyperatom.
//
// Pixels are float32 C-order arrays (..., bands): the bytes of a column-major bands x n matrix. All
// long work runs without the GIL (`Unlocked`); a Ctrl-C stops it at its next step.
#include <Eigen/Eigenvalues>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/baselines/src.hpp"
#include "hyperatom/eval/cross_validation.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/automatic.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/classifier.hpp"
#include "hyperatom/predict/sample_prediction.hpp"
#include "hyperatom/scene/neighborhoods.hpp"
#include "hyperatom/scene/split.hpp"
#include "hyperatom/scene/synthetic.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hyperatom::python {
namespace {

template <class T, int dimensions>
using In = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

Index size_of(const auto& array, size_t axis) { return static_cast<Index>(array.shape(axis)); }

/// An array of its own memory.
template <class T>
struct Array {
  explicit Array(std::vector<size_t> new_shape) : shape(std::move(new_shape)) {
    size_t size = 1;
    for (const size_t n : shape) size *= n;
    values = new T[size]();
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { delete[] values; }

  Out<T> give() {
    T* given = std::exchange(values, nullptr);
    const nb::capsule owner(given, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T>(given, shape.size(), shape.data(), owner);
  }

  std::vector<size_t> shape;
  T* values;
};

/// The columns of a matrix as rows of an array.
Out<double> rows_of(const Matrix& M) {
  Array<double> array({at(M.cols()), at(M.rows())});
  std::copy_n(M.data(), M.size(), array.values);
  return array.give();
}

template <class T, class Values>
Out<T> line_of(const Values& values) {
  Array<T> array({static_cast<size_t>(values.size())});
  std::copy(values.begin(), values.end(), array.values);
  return array.give();
}

Eigen::Map<const MatrixF> pixels_of(const In<float, 3>& windows) {
  return {windows.data(), size_of(windows, 2), size_of(windows, 0) * size_of(windows, 1)};
}

Matrix matrix_of(const In<double, 2>& array) {
  return Eigen::Map<const Matrix>(array.data(), size_of(array, 1), size_of(array, 0));
}

/// How many threads a call may use: OMP_NUM_THREADS, which joblib and Dask set in their workers so
/// that these do not crowd each other; without it, all cores.
std::optional<int> allowed_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), threads);
  return threads > 0 ? std::optional(threads) : std::nullopt;
}

/// While it lives, others may run Python, and the core keeps to its threads.
class Unlocked {
 public:
  Unlocked() {
    if (threads_) limit_.emplace(*threads_);
  }

 private:
  std::optional<int> threads_ = allowed_threads();  // read under the GIL, as os.environ is written
  nb::gil_scoped_release released_;
  std::optional<ThreadLimit> limit_;
};

/// Whether Python has something to say to a call that runs without the GIL: a Ctrl-C, as a rule.
bool interrupted() {
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

[[noreturn]] void raise_interruption() {
  const nb::gil_scoped_acquire held;
  throw nb::python_error();
}

/// S pixels each, in order, none shared.
Samples samples_of(const Matrix& pixels, Index window) {
  Samples samples;
  samples.pixels = pixels;
  samples.windows.resize(window, pixels.cols() / window);
  for (Index i = 0; i < pixels.cols(); ++i) samples.windows.data()[i] = i;
  samples.labels.assign(at(samples.size()), 0);
  samples.classes = 1;
  return samples;
}

// ---- Models

nb::bytes bytes_of(const Model& model) {
  const auto bytes = serialize_tensor_file(pack_model(model), "model");
  return nb::bytes(bytes.data(), bytes.size());
}

Model model_of(const nb::bytes& bytes) {
  return unpack_model(
      parse_tensor_file({static_cast<const std::byte*>(bytes.data()), bytes.size()}, "model"));
}

void expect_window(const Model& model, const In<float, 3>& windows) {
  if (size_of(windows, 1) != model.window)
    throw DataError(fmt::format("the windows have {} pixels, the model was trained on {}",
                                size_of(windows, 1), model.window));
}

/// Every window by itself, so that its code does not depend on those beside it.
template <class Visit>
void visit_codes(const Model& model, const In<float, 3>& windows, bool needs_code,
                 const Visit& visit) {
  expect_window(model, windows);
  const auto pixels = pixels_of(windows);
  const Unlocked unlocked;
  const auto kernel = make_kernel(model.kernel);
  const Coder coder(kernel->gram(model.dictionary, model.dictionary), model.coding);
  std::vector<WindowCoder> workers;
  for (Index slot = 0; slot < parallel_slots(); ++slot) workers.emplace_back(coder);
  const Index S = model.window, n = pixels.cols() / S;
  constexpr Index some = 4096;  // windows, after which Ctrl-C is heard
  for (Index first = 0; first < n; first += some) {
    parallel_for(std::min(some, n - first), [&](Index k, Index slot) {
      const Index i = first + k;
      const Matrix X = model.normalizer.apply(pixels.middleCols(i * S, S));
      const Matrix B = kernel->gram(model.dictionary, X);
      const Vector diagonal = kernel->diagonal(X);
      std::vector<const double*> columns;
      for (Index s = 0; s < S; ++s) columns.push_back(&B(0, s));
      const SparseCode* code = nullptr;
      if (needs_code) {
        workers[at(slot)].start();
        code = &workers[at(slot)].encode({columns, B.rows()}, diagonal.sum());
      }
      visit(i, coder, Evidence{code, columns, diagonal.sum()});
    });
    if (interrupted()) raise_interruption();
  }
}

Out<double> scores(const Model& model, const In<float, 3>& windows) {
  Array<double> result({windows.shape(0), at(model.classes())});
  const auto kernel = make_kernel(model.kernel);
  const AtomGram gram(kernel->gram(model.dictionary, model.dictionary), model.coding.lambda2);
  const auto scorer = make_scorer(model, gram);
  visit_codes(model, windows, scorer->needs_code(),
              [&](Index i, const Coder&, const Evidence& evidence) {
                Vector found;
                scorer->score(evidence, found);
                std::copy(found.begin(), found.end(), result.values + i * model.classes());
              });
  return result.give();
}

Out<double> codes(const Model& model, const In<float, 3>& windows) {
  Array<double> result({windows.shape(0), at(model.atoms())});
  visit_codes(model, windows, true, [&](Index i, const Coder&, const Evidence& evidence) {
    for (size_t k = 0; k < evidence.code->active.size(); ++k)
      result.values[i * model.atoms() + evidence.code->active[k]] =
          evidence.code->A(static_cast<Index>(k), 0);
  });
  return result.give();
}

/// Part of a scene: rows [row, row + rows) and columns [col, col + cols) of `cube`, whose other
/// pixels are there for the windows. Segments of columns start at `col`.
nb::dict classify(const Model& model, const In<float, 3>& cube, Index row, Index rows, Index col,
                  Index cols, const std::vector<double>& wavelengths) {
  const auto classes = at(model.classes());
  Array<std::int32_t> ids({at(rows), at(cols)});
  Array<float> class_scores({at(rows), at(cols), classes}), confidence({at(rows), at(cols)}),
      novelty({at(rows), at(cols)});
  ClassifyReport report;
  bool stopped = false;
  {
    const Unlocked unlocked;
    Scene scene;
    scene.info = {.path = "the scene",
                  .format = "array",
                  .rows = size_of(cube, 0),
                  .cols = size_of(cube, 1),
                  .bands = size_of(cube, 2)};
    scene.info.wavelengths =
        Eigen::Map<const Vector>(wavelengths.data(), static_cast<Index>(wavelengths.size()));
    scene.data.pixels = pixels_of(cube);
    mark_valid(scene.data, std::nullopt);
    const auto source = make_source(scene);
    const auto take = [&](const ClassifiedStrip& strip) {
      for (Index r = 0; r < strip.count; ++r)
        for (Index c = 0; c < cols; ++c) {
          const Index from = r * scene.info.cols + col + c;
          const Index to = (strip.first + r - row) * cols + c;
          ids.values[to] = strip.ids[at(from)];
          confidence.values[to] = strip.confidence(0, from);
          novelty.values[to] = strip.novelty(0, from);
          for (Index k = 0; k < model.classes(); ++k)
            class_scores.values[to * model.classes() + k] = strip.scores(k, from);
        }
    };
    report = Classifier(model).classify(
        *source, {.first = row, .count = rows, .first_col = col, .cols = cols}, take,
        [&](Index) { return !(stopped = interrupted()); });
  }
  if (stopped) throw nb::python_error();
  nb::dict result;
  result["class"] = ids.give();
  result["scores"] = class_scores.give();
  result["confidence"] = confidence.give();
  result["novelty"] = novelty.give();
  result["unconverged"] = report.unconverged;
  return result;
}

Out<std::uint8_t> colours_of(const Model& model) {
  Array<std::uint8_t> array({at(model.classes()), 3});
  std::copy_n(model.class_colours.data()->data(), 3 * model.classes(), array.values);
  return array.give();
}

/// What the core does not know of a model that was made from arrays.
void name_model(Model& model, const std::vector<Index>& ids, const std::vector<std::string>& names,
                const std::map<std::string, std::string>& provenance) {
  model.class_ids = ids;
  model.class_names = names;
  model.class_colours = default_colours(static_cast<Index>(ids.size()));
  model.provenance = provenance;
  validate(model);
}

// ---- Training

/// Labelled windows, normalised, with what decides how a model is learned from them.
class Training {
 public:
  Training(const In<float, 3>& windows, const In<std::int64_t, 1>& labels, Index classes,
           const In<double, 1>& weights, const std::string& normalize, const std::string& options,
           std::set<std::string> given) {
    from_json(options, options_.fields());
    const auto pixels = pixels_of(windows);
    const Index S = size_of(windows, 1);
    const std::vector<Index> y(labels.data(), labels.data() + labels.size());
    const std::vector<double> w(weights.data(), weights.data() + weights.size());
    bool stopped = false;
    {
      const Unlocked unlocked;
      normalizer_ = Normalizer::fit(normalize, pixels, pairs(pixels.cols() / S, S));
      samples_ = samples_of(normalizer_.apply(pixels), S);
      samples_.labels = y;
      samples_.weights = w;
      samples_.classes = classes;
      if (classes == 1) {  // nothing to judge a sigma by
        choose_sigma_without_labels();
        given.insert("kernel");
      }
      choose_settings(samples_, given, options_,
                      [&](Index, Index) { return !(stopped = interrupted()); });
    }
    if (stopped) throw nb::python_error();
  }

  /// Draws the first dictionary, or takes that of `start`.
  void begin(const Model* start) {
    bool stopped = false;
    {
      const Unlocked unlocked;
      if (start == nullptr)
        trainer_ = std::make_unique<Trainer>(samples_, options_,
                                             [&] { return !(stopped = interrupted()); });
      else
        trainer_ = std::make_unique<Trainer>(
            samples_, options_, Parameters{start->dictionary, start->weights, start->bias},
            start->atom_classes);
    }
    if (stopped) throw nb::python_error();
  }

  /// To the end. `observer`, unless None, is called with the report of every epoch.
  void run(const nb::object& observer) {
    bool stopped = false;
    {
      const Unlocked unlocked;
      const Index per_epoch =
          std::max<Index>(1, trainer_->steps() / std::max<Index>(1, options_.epochs));
      trainer_->run([&](const StepReport& report) {
        stopped = interrupted();
        if (stopped || observer.is_none() || report.step % per_epoch != 0) return !stopped;
        const nb::gil_scoped_acquire held;
        observer(dict_of(report));
        return true;
      });
    }
    if (stopped) throw nb::python_error();
  }

  Model model() const {
    Model model = trainer_->model();
    model.normalizer = normalizer_;
    return model;
  }

  /// No training: the pixels themselves.
  Model sparse_representation() const {
    const Unlocked unlocked;
    Model model = make_src(samples_, options_.kernel, options_.coding());
    model.normalizer = normalizer_;
    return model;
  }

  std::string options() { return to_json(options_.fields()); }

 private:
  /// Neighbours, which tell mnf what noise is: the centre of a window and those around it.
  static std::vector<Normalizer::Pair> pairs(Index count, Index S) {
    std::vector<Normalizer::Pair> found;
    for (Index i = 0; i < count; ++i)
      for (Index s = 1; s < std::min<Index>(S, 5); ++s) found.push_back({i * S, i * S + s});
    return found;
  }

  void choose_sigma_without_labels() {
    if (options_.kernel.name != "gaussian" || options_.kernel.parameters.size() > 0) return;
    const double median = median_squared_distance(samples_, options_.seed);
    options_.kernel = {"gaussian", {{"sigma", median > 0 ? rounded(median) : 1}}};
  }

  static nb::dict dict_of(const StepReport& report) {
    nb::dict result;
    result["epoch"] = report.epoch;
    result["step"] = report.step;
    result["steps"] = report.steps;
    result["loss"] = report.batch.loss;
    result["accuracy"] = report.batch.accuracy;
    result["active"] = report.active;
    result["gap"] = report.gap;
    result["unconverged"] = report.unconverged;
    result["rate"] = report.rate;
    if (report.validation) {
      result["validation_loss"] = report.validation->loss;
      result["validation_accuracy"] = report.validation->accuracy;
    }
    return result;
  }

  TrainOptions options_;
  Normalizer normalizer_;
  Samples samples_;
  std::unique_ptr<Trainer> trainer_;
};

// ---- Sparse codes

/// tr(B' K^+ B): what k(x, x) adds up to if the pixels lie in the span of the atoms. Whatever they
/// have beside it adds a constant to the objective and leaves code and gap as they are.
double least_kappa(const Matrix& K, const Matrix& B) {
  if (B.rows() != K.rows() || !K.allFinite() || !B.allFinite()) return 0;  // the coder will say so
  const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(K);
  const Vector& values = spectrum.eigenvalues();
  const Matrix along = spectrum.eigenvectors().transpose() * B;
  double kappa = 0;
  for (Index j = 0; j < values.size(); ++j)
    if (values[j] > 1e-12 * values.cwiseAbs().maxCoeff())
      kappa += along.row(j).squaredNorm() / values[j];
  return kappa;
}

/// The code of one problem, and what its derivatives need.
class Code {
 public:
  Code(const In<double, 2>& K, const In<double, 2>& B, const CoderOptions& options,
       std::optional<double> kappa)
      : coder_(matrix_of(K), options) {
    // Arrays are in C order: B has a row for every atom.
    const Matrix gram = matrix_of(K), columns = matrix_of(B).transpose();
    const Unlocked unlocked;
    code_ = coder_.encode(columns, kappa ? *kappa : least_kappa(gram, columns));
  }

  const SparseCode& code() const { return code_; }
  Out<double> dense() const { return rows_of(code_.dense(coder_.atoms()).transpose()); }

  /// The gradient in K (symmetric) and B of a function of the code whose gradient is g.
  std::pair<Out<double>, Out<double>> vjp(const In<double, 2>& g) const {
    const Index d = coder_.atoms(), S = code_.A.cols(), m = code_.A.rows();
    if (size_of(g, 0) != d || size_of(g, 1) != S)
      throw OptionError(fmt::format("the gradient has shape ({}, {}), the code ({}, {})",
                                    size_of(g, 0), size_of(g, 1), d, S));
    RowMatrix slope(m, S);
    for (Index i = 0; i < m; ++i)
      for (Index s = 0; s < S; ++s) slope(i, s) = g.data()[code_.active[at(i)] * S + s];
    Matrix in_K = Matrix::Zero(d, d), in_B = Matrix::Zero(S, d);
    if (m > 0) {
      const RowMatrix beta = coder_.adjoint(code_, slope).beta;
      const Matrix both = beta * code_.A.transpose();
      for (Index i = 0; i < m; ++i) {
        in_B.col(code_.active[at(i)]) = beta.row(i);
        for (Index j = 0; j < m; ++j)
          in_K(code_.active[at(i)], code_.active[at(j)]) = -0.5 * (both(i, j) + both(j, i));
      }
    }
    return {rows_of(in_K), rows_of(in_B)};
  }

 private:
  Coder coder_;
  SparseCode code_;
};

// ---- Scenes

/// For every pixel of `where` (rows of row, column): the places of its window, -1 where the pixel
/// itself can't be used.
Out<std::int64_t> window_places(const In<std::uint8_t, 2>& valid, const In<std::int64_t, 2>& where,
                                Index size) {
  const Neighborhoods neighborhoods(size);
  Array<std::int64_t> places({where.shape(0), at(size)});
  const Index rows = size_of(valid, 0), cols = size_of(valid, 1);
  const std::span<const char> usable(reinterpret_cast<const char*>(valid.data()), valid.size());
  std::vector<Index> window(at(size));
  for (Index i = 0; i < size_of(where, 0); ++i) {
    const Index row = where.data()[2 * i], col = where.data()[2 * i + 1];
    std::int64_t* place = places.values + i * size;
    if (usable[at(row * cols + col)]) {
      neighborhoods.gather(usable, rows, cols, row, col, window);
      std::copy(window.begin(), window.end(), place);
    } else {
      std::fill_n(place, size, -1);
    }
  }
  return places.give();
}

Labels labels_of(const In<std::int32_t, 2>& ids) {
  Labels labels;
  labels.rows = size_of(ids, 0);
  labels.cols = size_of(ids, 1);
  labels.ids.assign(ids.data(), ids.data() + ids.size());
  const Index classes =
      labels.ids.empty() ? 0 : *std::max_element(labels.ids.begin(), labels.ids.end());
  for (Index c = 1; c <= classes; ++c) labels.names.push_back(std::to_string(c));
  labels.colours = default_colours(classes);
  return labels;
}

nb::tuple split(const In<std::int32_t, 2>& ids, std::optional<Index> train,
                std::optional<double> fraction, std::optional<Index> per_class, Index block,
                Index buffer, std::uint64_t seed) {
  const SplitRule rule{.kind = block > 0 ? SplitRule::Kind::blocks : SplitRule::Kind::random,
                       .train = train,
                       .fraction = fraction,
                       .per_class = per_class,
                       .block = block,
                       .buffer = buffer,
                       .seed = seed};
  const Split made = make_split(labels_of(ids), rule);
  return nb::make_tuple(line_of<std::int64_t>(made.train), line_of<std::int64_t>(made.test));
}

/// Of samples at places (row, column) of a scene.
nb::list block_folds(const In<std::int64_t, 2>& where, const In<std::int64_t, 1>& labels,
                     Index classes, Index folds, Index block, Index buffer, std::uint64_t seed) {
  SceneSamples samples;
  Index cols = 0;
  for (Index i = 0; i < size_of(where, 0); ++i)
    cols = std::max<Index>(cols, where.data()[2 * i + 1] + 1);
  for (Index i = 0; i < size_of(where, 0); ++i) {
    samples.pixels.push_back(where.data()[2 * i] * cols + where.data()[2 * i + 1]);
    samples.samples.labels.push_back(labels.data()[i]);
  }
  const Index count = size_of(where, 0);
  samples.samples.classes = classes;
  samples.samples.pixels = Matrix::Zero(1, count);  // of which folds see nothing
  samples.samples.windows.resize(1, count);
  for (Index i = 0; i < count; ++i) samples.samples.windows(0, i) = i;
  nb::list result;
  for (const Fold& fold : make_folds(samples, cols, {folds, block, buffer, seed}))
    result.append(
        nb::make_tuple(line_of<std::int64_t>(fold.training), line_of<std::int64_t>(fold.held_out)));
  return result;
}

nb::tuple synth(Index rows, Index cols, Index bands, Index classes, std::uint64_t seed) {
  Scene scene;
  Labels labels;
  {
    const Unlocked unlocked;
    SyntheticScene source(
        {.rows = rows, .cols = cols, .bands = bands, .classes = classes, .seed = seed});
    labels = source.labels();
    scene = read_all(source);
  }
  Array<float> cube({at(rows), at(cols), at(bands)});
  for (Index i = 0; i < rows * cols; ++i)
    for (Index b = 0; b < bands; ++b)
      cube.values[i * bands + b] = scene.data.valid[at(i)]
                                       ? scene.data.pixels(b, i)
                                       : std::numeric_limits<float>::quiet_NaN();
  Array<std::int32_t> ids({at(rows), at(cols)});
  std::copy(labels.ids.begin(), labels.ids.end(), ids.values);
  return nb::make_tuple(cube.give(), ids.give());
}

}  // namespace
}  // namespace hyperatom::python

NB_MODULE(_core, m) {
  using namespace hyperatom;
  using namespace hyperatom::python;

#ifdef __AVX2__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    throw nb::import_error("hyperatom was built for processors with AVX2, which this one lacks");
#endif

  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const IoError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    } catch (const Error& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });

  nb::class_<Model>(m, "Model")
      .def_ro("method", &Model::method)
      .def_prop_ro("kernel", [](const Model& model) { return model.kernel.to_string(); })
      .def_prop_ro("loss", [](const Model& model) { return model.loss.to_string(); })
      .def_prop_ro("lambda1", [](const Model& model) { return model.coding.lambda1; })
      .def_prop_ro("lambda2", [](const Model& model) { return model.coding.lambda2; })
      .def_ro("window", &Model::window)
      .def_prop_ro("reach", [](const Model& model) { return Neighborhoods(model.window).reach(); })
      .def_prop_ro("bands", &Model::bands)
      .def_prop_ro("normalizer", [](const Model& model) { return model.normalizer.kind; })
      .def_prop_ro(
          "dictionary", [](const Model& model) { return rows_of(model.dictionary); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const Model& model) { return rows_of(model.weights.transpose()); },
          nb::rv_policy::move)
      .def_prop_ro(
          "bias", [](const Model& model) { return line_of<double>(model.bias); },
          nb::rv_policy::move)
      .def_prop_ro(
          "atom_classes",
          [](const Model& model) { return line_of<std::int64_t>(model.atom_classes); },
          nb::rv_policy::move)
      .def_prop_ro(
          "wavelengths", [](const Model& model) { return line_of<double>(model.wavelengths); },
          nb::rv_policy::move)
      .def_prop_ro(
          "class_ids", [](const Model& model) { return line_of<std::int64_t>(model.class_ids); },
          nb::rv_policy::move)
      .def_ro("class_names", &Model::class_names)
      .def_prop_ro("class_colours", &colours_of, nb::rv_policy::move)
      .def_ro("provenance", &Model::provenance)
      .def("name_classes", &name_model)
      .def("scores", &scores)
      .def("codes", &codes)
      .def("classify", &classify, "cube"_a, "row"_a, "rows"_a, "col"_a, "cols"_a, "wavelengths"_a)
      .def("save", [](const Model& model, const std::string& path) { save_model(model, path); })
      .def("__getstate__", &bytes_of)
      .def("__setstate__",
           [](Model& model, const nb::bytes& bytes) { new (&model) Model(model_of(bytes)); });
  m.def("load_model", [](const std::string& path) { return load_model(path); });

  nb::class_<Training>(m, "Training")
      .def(nb::init<const In<float, 3>&, const In<std::int64_t, 1>&, Index, const In<double, 1>&,
                    const std::string&, const std::string&, std::set<std::string>>())
      .def("begin", &Training::begin, "start"_a.none())
      .def("run", &Training::run, "observer"_a.none())
      .def("model", &Training::model)
      .def("sparse_representation", &Training::sparse_representation)
      .def_prop_ro("options", &Training::options);

  nb::class_<Code>(m, "Code")
      .def("__init__",
           [](Code* code, const In<double, 2>& K, const In<double, 2>& B, double lambda1,
              double lambda2, double tolerance, std::optional<double> kappa) {
             new (code) Code(K, B, {.lambda1 = lambda1, .lambda2 = lambda2, .tolerance = tolerance},
                             kappa);
           })
      .def("dense", &Code::dense)
      .def("vjp", &Code::vjp)
      .def_prop_ro(
          "active", [](const Code& c) { return line_of<std::int64_t>(c.code().active); },
          nb::rv_policy::move)
      .def_prop_ro("objective", [](const Code& c) { return c.code().objective; })
      .def_prop_ro("gap", [](const Code& c) { return c.code().gap; })
      .def_prop_ro("steps", [](const Code& c) { return c.code().steps; })
      .def_prop_ro("converged", [](const Code& c) { return c.code().converged; });

  m.def("window_places", &window_places);
  m.def("split", &split, "labels"_a, "train"_a.none(), "fraction"_a.none(), "per_class"_a.none(),
        "block"_a, "buffer"_a, "seed"_a);
  m.def("block_folds", &block_folds);
  m.def("synth", &synth, "rows"_a, "cols"_a, "bands"_a, "classes"_a, "seed"_a);
  m.attr("segment") = classify_segment;
  m.attr("version") = HYPERATOM_VERSION;
}
