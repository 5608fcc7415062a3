#include "hyperatom/predict/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/base/simd.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/scene/neighborhoods.hpp"

namespace hyperatom {
namespace {

constexpr Index enough = 8192;  // pixels of a strip, after which progress is told
constexpr Index block = 64;     // pixels whose kernel columns are formed at a time
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

/// Rows of kernel columns: those that the windows of the present strip reach.
struct ColumnRows {
  Index first = 0;  ///< row of the scene
  Index count = 0;
  Index cols = 0;
  Matrix columns;  ///< d x (count * cols)
  Vector diagonal;
  std::vector<char> valid;

  /// Forgets the rows before `row`.
  void drop_before(Index row, Index atoms) {
    const Index dropped = std::min(count, std::max<Index>(0, row - first));
    if (dropped == 0) return;
    const Index kept = (count - dropped) * cols;
    std::copy_n(columns.data() + dropped * cols * atoms, kept * atoms, columns.data());
    std::copy_n(diagonal.data() + dropped * cols, kept, diagonal.data());
    std::copy_n(valid.data() + dropped * cols, kept, valid.data());
    first += dropped;
    count -= dropped;
  }
};

/// The class of the highest score, the first of equals, and how far it is above the next. Without
/// branches, since which class it is can't be foreseen: of packs the compiler makes none.
struct Winner {
  Index best = 0;
  double lead = 0;

  explicit Winner(const Vector& scores) {
    simd::Pack most = simd::broadcast(scores[0]);
    simd::Pack next = simd::broadcast(-std::numeric_limits<double>::infinity());
    for (Index c = 1; c < scores.size(); ++c) {
      const simd::Pack score = simd::broadcast(scores[c]);
      next = simd::larger(simd::smaller(score, most), next);
      most = simd::larger(score, most);
    }
    const double highest = most[0];
    lead = highest - next[0];
    for (Index first = 0; first < scores.size(); first += 64) {
      std::uint64_t found = 0;
      for (Index c = first; c < std::min(scores.size(), first + 64); ++c)
        found |= std::uint64_t{scores[c] == highest} << (c - first);
      if (found == 0) continue;
      best = first + std::countr_zero(found);
      break;
    }
  }
};

float share(double part, double whole) {
  return whole > 0 ? static_cast<float>(std::clamp(part / whole, 0.0, 1.0)) : nothing;
}

/// ||phi(x) - Phi(D) alpha||^2 / k(x, x) for the centre of a window.
float novelty_of(const AtomGram& K, const CoderOptions& options, const SparseCode& code,
                 const double* column, double own) {
  double rest = own;
  if (code.A.cols() == 1 && std::isfinite(code.objective)) {
    // The pixel is all of the window: its objective has what is asked for as one of three terms.
    const auto a = code.A.col(0);
    rest =
        2 * (code.objective - options.lambda1 * a.lpNorm<1>()) - options.lambda2 * a.squaredNorm();
    return share(rest, own);
  }
  for (size_t i = 0; i < code.active.size(); ++i) {
    const double a = code.A(static_cast<Index>(i), 0);
    double explained = -options.lambda2 * a;  // K carries lambda2 on its diagonal
    for (size_t j = 0; j < code.active.size(); ++j)
      explained += K(code.active[i], code.active[j]) * code.A(static_cast<Index>(j), 0);
    rest += a * (explained - 2 * column[code.active[i]]);
  }
  return share(rest, own);
}

/// A kernel column, or its beginning, for the next pixel: a strip of them does not stay in the
/// cache.
void fetch_ahead(const double* column) {
#pragma GCC unroll 8
  for (int line = 0; line < 8; ++line) __builtin_prefetch(column + line * 8);
}

/// For columns of so many features and zeros, which no kernel sees, up to whole packs: none of them
/// lies across cache lines more than it must.
Matrix padded(Index features, Index cols) {
  Matrix result(simd::round_up(features), cols);
  result.bottomRows(result.rows() - features).setZero();
  return result;
}

std::string range_of(const Vector& wavelengths) {
  if (wavelengths.size() == 0) return "without wavelengths";
  return fmt::format("{:.3f} to {:.3f} um", wavelengths.minCoeff(), wavelengths.maxCoeff());
}

/// One pass over a scene.
class Pass {
 public:
  Pass(const Model& model, const Kernel& kernel, const Coder& coder, const Scorer& scorer,
       SceneSource& source, Index first_col = 0, Index end_col = -1)
      : model_(model),
        kernel_(kernel),
        coder_(coder),
        scorer_(scorer),
        source_(source),
        neighborhoods_(model.window),
        dictionary_(padded(model.dictionary.rows(), model.atoms())),
        softmax_(model.loss.name == "softmax"),
        first_col_(first_col),
        end_col_(end_col < 0 ? source.info().cols : end_col) {
    dictionary_.topRows(model.dictionary.rows()) = model.dictionary;
  }

  /// Strips of this many rows stay within `megabytes`: a row costs its kernel columns, its pixels
  /// as read, and its results, which wait for the sink while those of the next strip are made.
  Index strip_height(Index megabytes) const {
    const auto per_pixel = static_cast<double>(8 * model_.atoms() + 4 * model_.bands() +
                                               2 * (4 * model_.classes() + 16));
    const double fit =
        static_cast<double>(megabytes) * 1e6 / (per_pixel * static_cast<double>(cols()));
    return std::clamp<Index>(static_cast<Index>(fit) - 2 * neighborhoods_.reach(), 1,
                             std::max<Index>(1, enough / cols()));
  }

  void begin(Index first, Index height) {
    rows_.cols = cols();
    rows_.first = std::max<Index>(0, first - neighborhoods_.reach());
    const Index most = std::min(source_.info().rows, height + 2 * neighborhoods_.reach()) * cols();
    rows_.columns.resize(model_.atoms(), most);
    rows_.diagonal.resize(most);
    rows_.valid.resize(at(most));
  }

  /// Has the kernel columns of all rows that windows of [first, first + count) reach.
  void read_up_to(Index first, Index count) {
    rows_.drop_before(first - neighborhoods_.reach(), model_.atoms());
    const Index needed = rows_missing(first, count);
    if (needed <= 0) return;
    if (failure_) std::rethrow_exception(failure_);
    if (!std::exchange(ahead_, false)) source_.read(rows_.first + rows_.count, needed, read_);
    const Index offset = rows_.count * cols(), pixels = needed * cols();
    std::copy(read_.valid.begin(), read_.valid.end(), rows_.valid.begin() + offset);
    parallel_for_blocks(pixels, block, [&](Index begin, Index size) {
      // Nobody asks for the columns of pixels that are not valid: none before the first that is,
      // none after the last.
      const auto all = read_.valid.begin(), end = all + begin + size;
      const auto from = std::find(all + begin, end, 1);
      if (from == end) return;
      const auto to =
          std::find(std::make_reverse_iterator(end), std::make_reverse_iterator(from), 1);
      form_columns(from - all, to.base() - from, offset);
    });
    rows_.count += needed;
  }

  void open_strip(Index first, Index count, bool codes, ClassifiedStrip& strip) const {
    strip.first = first;
    strip.count = count;
    strip.ids.assign(at(count * cols()), 0);
    strip.scores.setConstant(model_.classes(), count * cols(), nothing);
    strip.confidence.setConstant(1, count * cols(), nothing);
    strip.novelty.setConstant(1, count * cols(), nothing);
    strip.codes.assign(codes ? at(count * cols()) : 0, {});
  }

  /// Classifies the rows of the strip, for which all has been read. Meanwhile what the next
  /// strip, of `next_count` rows, needs is read, and `hand_over` is called; both on any thread.
  void classify(ClassifiedStrip& strip, ClassifyReport& report, Index next_count,
                const std::function<void()>& hand_over) {
    const Index segments = (end_col_ - first_col_ + classify_segment - 1) / classify_segment;
    parts_.assign(at(strip.count * segments), {});
    while (workers_.size() < at(parallel_slots())) workers_.emplace_back(coder_);
    parallel_for(2 + strip.count * segments, [&](Index task, Index slot) {
      if (task == 0) return read_ahead(strip.first + strip.count, next_count);
      if (task == 1) return hand_over();
      const Index row = (task - 2) / segments, segment = (task - 2) % segments;
      const Index begin = first_col_ + segment * classify_segment;
      code_segment(workers_[at(slot)], row, begin, std::min(end_col_, begin + classify_segment),
                   strip, parts_[at(task - 2)]);
    });
    for (const ClassifyReport& part : parts_) {
      report.classified += part.classified;
      report.not_valid += part.not_valid;
      report.unconverged += part.unconverged;
      report.active += part.active;
    }
  }

  /// The code of one pixel, after those before it in its segment, as in a map.
  Explanation explain(Index row, Index col) {
    begin(row, 1);
    read_up_to(row, 1);
    Explanation result;
    WindowCoder worker(coder_);
    code_windows(worker, row, col / classify_segment * classify_segment, col + 1,
                 [&](Index at_col, const CodedWindow& coded) {
                   if (at_col != col || coded.window.empty()) return;
                   Judgement judgement;
                   judge(coded, judgement);
                   result = {
                       .class_index = judgement.best,
                       .code = coded.evidence.code != nullptr ? *coded.evidence.code : SparseCode{},
                       .scores = judgement.scores,
                       .confidence = judgement.confidence,
                       .novelty = judgement.novelty,
                       .spectrum = read_.pixels.col((row - rows_.first) * cols() + col)};
                   if (coded.evidence.code != nullptr)
                     result.reconstruction = reconstruction(coded, result.spectrum);
                   for (const Index pixel : coded.window)
                     result.window.push_back(rows_.first * cols() + pixel);
                 });
    return result;
  }

 private:
  /// A pixel's window and what a scorer needs of it; no window where the pixel is not valid.
  struct CodedWindow {
    std::span<const Index> window = {};  ///< places in rows_
    Evidence evidence = {};
    double own = 0;  ///< k(x, x) of the pixel
  };
  struct Judgement {
    Vector scores;
    Index best = 0;
    float confidence = 0;
    float novelty = 0;
  };

  Index cols() const { return source_.info().cols; }

  /// How many rows after those at hand windows of [first, first + count) reach.
  Index rows_missing(Index first, Index count) const {
    return std::min(source_.info().rows, first + count + neighborhoods_.reach()) -
           (rows_.first + rows_.count);
  }

  /// Kernel columns of pixels that were read; theirs in rows_ begin at `offset`.
  void form_columns(Index begin, Index size, Index offset) {
    Matrix X = padded(model_.features(), size);
    model_.normalizer.apply(read_.pixels.middleCols(begin, size), X.topRows(model_.features()));
    kernel_.gram(dictionary_, X, rows_.columns.middleCols(offset + begin, size));
    rows_.diagonal.segment(offset + begin, size) = kernel_.diagonal(X);
  }

  /// What goes wrong is told when these rows' turn comes.
  void read_ahead(Index first, Index count) {
    const Index missing = count > 0 ? rows_missing(first, count) : 0;
    if (missing <= 0) return;
    const ThreadLimit one(1);  // the others are at work
    try {
      source_.read(rows_.first + rows_.count, missing, read_);
      ahead_ = true;
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  /// The windows of pixels [begin, end) of one row of the scene, one after the other: `visit(col,
  /// coded)`.
  template <class Visitor>
  void code_windows(WindowCoder& worker, Index row, Index begin, Index end,
                    const Visitor& visit) const {
    worker.start();
    std::vector<Index> window(at(model_.window));
    std::vector<const double*> columns(window.size());
    const Index inside = row - rows_.first;
    for (Index col = begin; col < end; ++col) {
      if (!rows_.valid[at(inside * cols() + col)]) {
        visit(col, CodedWindow{});
        continue;
      }
      if (col + 2 < end) fetch_ahead(rows_.columns.col(inside * cols() + col + 2).data());
      neighborhoods_.gather(rows_.valid, rows_.count, cols(), inside, col, window);
      double kappa = 0;
      for (size_t s = 0; s < window.size(); ++s) {
        columns[s] = rows_.columns.data() + window[s] * model_.atoms();
        kappa += rows_.diagonal[window[s]];
      }
      std::optional<Pixel> next;
      if (const Index after = inside * cols() + col + 1;
          window.size() == 1 && col + 1 < end && rows_.valid[at(after)])
        next = {rows_.columns.col(after).data(), rows_.diagonal[after]};
      const SparseCode* code = scorer_.needs_code() ? &worker.encode({columns, model_.atoms()},
                                                                     kappa, next ? &*next : nullptr)
                                                    : nullptr;
      visit(col, CodedWindow{window, {code, columns, kappa}, rows_.diagonal[window[0]]});
    }
  }

  /// Pixels [begin, end) of one row of the strip.
  void code_segment(WindowCoder& worker, Index row, Index begin, Index end, ClassifiedStrip& strip,
                    ClassifyReport& part) const {
    Judgement judgement;
    code_windows(worker, strip.first + row, begin, end, [&](Index col, const CodedWindow& coded) {
      if (coded.window.empty()) {
        ++part.not_valid;
        return;
      }
      judge(coded, judgement);
      const Index out = row * cols() + col;
      strip.ids[at(out)] = static_cast<std::int32_t>(model_.class_ids[at(judgement.best)]);
      strip.scores.col(out) = judgement.scores.cast<float>();
      strip.confidence(0, out) = judgement.confidence;
      strip.novelty(0, out) = judgement.novelty;
      ++part.classified;
      if (coded.evidence.code == nullptr) return;
      if (!strip.codes.empty()) strip.codes[at(out)] = pixel_code(coded);
      part.unconverged += !coded.evidence.code->converged;
      part.active += static_cast<double>(coded.evidence.code->active.size());
    });
  }

  /// With what the active atoms add up to nearly the pixel.
  Vector parts_of(const CodedWindow& coded) const {
    const SparseCode& code = *coded.evidence.code;
    Vector cross(code.A.rows());
    for (Index i = 0; i < cross.size(); ++i)
      cross[i] = coded.evidence.columns[0][code.active[at(i)]];
    return kernel_.preimage(code.A.col(0), cross, coded.own);
  }

  PixelCode pixel_code(const CodedWindow& coded) const {
    const SparseCode& code = *coded.evidence.code;
    const Vector parts = parts_of(coded);
    PixelCode result;
    for (Index i = 0; i < parts.size(); ++i) {
      result.atoms.push_back(static_cast<std::int32_t>(code.active[at(i)]));
      result.weights.push_back(static_cast<float>(code.A(i, 0)));
      result.parts.push_back(static_cast<float>(parts[i]));
    }
    result.gap = code.objective > 0 ? code.gap / code.objective : 0;
    return result;
  }

  Vector reconstruction(const CodedWindow& coded, const Eigen::VectorXf& pixel) const {
    const Vector parts = parts_of(coded);
    Vector features = Vector::Zero(model_.dictionary.rows());
    for (Index i = 0; i < parts.size(); ++i)
      features += parts[i] * model_.dictionary.col(coded.evidence.code->active[at(i)]);
    const Normalizer::Lengths lengths = model_.normalizer.lengths(pixel);
    return lengths.features * model_.normalizer.spectra(features) +
           lengths.offset * model_.normalizer.offset;
  }

  void judge(const CodedWindow& coded, Judgement& result) const {
    scorer_.score(coded.evidence, result.scores);
    const Winner winner(result.scores);
    result.best = winner.best;
    result.confidence = static_cast<float>(
        softmax_ ? 1 / (result.scores.array() - result.scores[winner.best]).exp().sum()
                 : std::min(1.0, winner.lead));
    result.novelty = coded.evidence.code == nullptr
                         ? nothing
                         : novelty_of(coder_.gram(), model_.coding, *coded.evidence.code,
                                      coded.evidence.columns[0], coded.own);
  }

  const Model& model_;
  const Kernel& kernel_;
  const Coder& coder_;
  const Scorer& scorer_;
  SceneSource& source_;
  const Neighborhoods neighborhoods_;
  Matrix dictionary_;  // padded
  const bool softmax_;
  const Index first_col_, end_col_;  // to classify
  ColumnRows rows_;
  Strip read_;
  std::vector<ClassifyReport> parts_;
  std::vector<WindowCoder> workers_;  // of threads
  bool ahead_ = false;                // whether read_ has the rows after those at hand
  std::exception_ptr failure_;        // why it hasn't
};

}  // namespace

Classifier::Classifier(const Model& model)
    : model_(model),
      kernel_(make_kernel(model.kernel)),
      coder_(kernel_->gram(model.dictionary, model.dictionary), model.coding),
      scorer_(make_scorer(model, coder_.gram())) {}

void Classifier::expect_fits(const SceneInfo& scene) const {
  if (scene.bands != model_.bands())
    throw DataError(fmt::format("{}: {} bands ({}), the model was trained on {} ({})", scene.path,
                                scene.bands, range_of(scene.wavelengths), model_.bands(),
                                range_of(model_.wavelengths)));
  if (scene.wavelengths.size() == 0 || model_.wavelengths.size() == 0) return;
  for (Index b = 0; b < scene.bands; ++b) {
    // Half the distance to the next band: closer is the same band, measured or rounded otherwise.
    const double next =
        b + 1 < scene.bands
            ? std::abs(model_.wavelengths[b + 1] - model_.wavelengths[b])
            : std::abs(model_.wavelengths[b] - model_.wavelengths[std::max<Index>(0, b - 1)]);
    if (std::abs(scene.wavelengths[b] - model_.wavelengths[b]) > std::max(0.5 * next, 1e-6))
      throw DataError(fmt::format("{}: band {} is at {:.4f} um, the model's at {:.4f} um",
                                  scene.path, b + 1, scene.wavelengths[b], model_.wavelengths[b]));
  }
}

Explanation Classifier::explain(SceneSource& source, Index row, Index col) const {
  const SceneInfo& scene = source.info();
  expect_fits(scene);
  if (row < 0 || row >= scene.rows || col < 0 || col >= scene.cols)
    throw OptionError(
        fmt::format("pixel {},{} is outside {}, whose rows are 0 to {} and columns 0 to {}", row,
                    col, scene.path, scene.rows - 1, scene.cols - 1));
  Explanation result = Pass(model_, *kernel_, coder_, *scorer_, source).explain(row, col);
  if (result.window.empty())
    throw DataError(fmt::format(
        "{}: pixel {},{} can't be used: it is no-data, masked, not finite, or zero in all bands",
        scene.path, row, col));
  return result;
}

ClassifyReport Classifier::classify(SceneSource& source, const ClassifyOptions& options,
                                    const std::function<void(const ClassifiedStrip&)>& sink,
                                    const std::function<bool(Index rows)>& progress) const {
  const SceneInfo& scene = source.info();
  expect_fits(scene);
  const Index end =
      options.count < 0 ? scene.rows : std::min(scene.rows, options.first + options.count);
  const Index end_col =
      options.cols < 0 ? scene.cols : std::min(scene.cols, options.first_col + options.cols);
  Pass pass(model_, *kernel_, coder_, *scorer_, source, options.first_col, end_col);
  const Index height = pass.strip_height(options.ram);
  pass.begin(options.first, height);
  ClassifyReport report;
  ClassifiedStrip strip, done;
  const auto hand_over = [&] {
    if (done.count > 0) sink(done);
  };
  for (Index first = options.first; first < end; first += height) {
    const Index count = std::min(height, end - first);
    try {
      pass.read_up_to(first, count);
    } catch (...) {
      hand_over();
      throw;
    }
    pass.open_strip(first, count, options.codes, strip);
    pass.classify(strip, report, std::min(height, end - first - count), hand_over);
    std::swap(strip, done);
    if (progress && !progress(first + count - options.first)) return report;
  }
  hand_over();
  report.active /= static_cast<double>(std::max<Index>(1, report.classified));
  return report;
}

}  // namespace hyperatom
