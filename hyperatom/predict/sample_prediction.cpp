#include "hyperatom/predict/sample_prediction.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "hyperatom/base/parallel.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/predict/scoring.hpp"

namespace hyperatom {
namespace {

constexpr Index most_bytes = 100'000'000;  // of kernel columns held at a time
constexpr Index block = 64;                // pixels whose kernel columns are formed at a time

/// Windows whose kernel columns are held together.
struct Chunk {
  std::vector<Index> pixels;     ///< of the samples
  std::vector<Index> places;     ///< S per window: in `pixels`
  Index first = 0, windows = 0;  ///< of `which`
};

/// As many windows from `first` on as have at most `most` pixels, but at least one.
Chunk next_chunk(const Samples& samples, std::span<const Index> which, Index first, Index most) {
  Chunk chunk;
  chunk.first = first;
  std::unordered_map<Index, Index> place;
  for (size_t i = at(first); i < which.size(); ++i) {
    if (chunk.windows > 0 && static_cast<Index>(place.size()) + samples.window() > most) break;
    for (Index s = 0; s < samples.window(); ++s) {
      const Index pixel = samples.windows(s, which[i]);
      const auto [found, is_new] = place.try_emplace(pixel, static_cast<Index>(place.size()));
      if (is_new) chunk.pixels.push_back(pixel);
      chunk.places.push_back(found->second);
    }
    ++chunk.windows;
  }
  return chunk;
}

class PathPredictor {
 public:
  PathPredictor(std::span<const Model> path, const Samples& samples, std::span<const Index> which)
      : path_(path), samples_(samples), which_(which), kernel_(make_kernel(path[0].kernel)) {
    const Matrix K = kernel_->gram(path[0].dictionary, path[0].dictionary);
    for (const Model& model : path) {
      coders_.push_back(std::make_unique<Coder>(K, model.coding));
      scorers_.push_back(make_scorer(model, coders_.back()->gram()));
    }
    classes_.assign(path.size(), std::vector<Index>(which.size()));
  }

  std::vector<std::vector<Index>> run() {
    const Index most = most_bytes / (8 * path_[0].atoms());
    for (Index first = 0; first < static_cast<Index>(which_.size());) {
      const Chunk chunk = next_chunk(samples_, which_, first, most);
      form_columns(chunk);
      predict(chunk);
      first += chunk.windows;
    }
    return std::move(classes_);
  }

 private:
  void form_columns(const Chunk& chunk) {
    const auto pixels = static_cast<Index>(chunk.pixels.size());
    columns_.resize(path_[0].atoms(), pixels);
    diagonal_.resize(pixels);
    parallel_for_blocks(pixels, block, [&](Index begin, Index size) {
      Matrix X(samples_.bands(), size);
      for (Index k = 0; k < size; ++k) X.col(k) = samples_.pixels.col(chunk.pixels[at(begin + k)]);
      kernel_->gram(path_[0].dictionary, X, columns_.middleCols(begin, size));
      diagonal_.segment(begin, size) = kernel_->diagonal(X);
    });
  }

  void predict(const Chunk& chunk) {
    std::vector<std::vector<WindowCoder>> workers(at(parallel_slots()));
    for (auto& each : workers)
      for (const auto& coder : coders_) each.emplace_back(*coder);
    parallel_for(chunk.windows, [&](Index i, Index slot) {
      const Index S = samples_.window();
      std::vector<const double*> columns(at(S));
      double kappa = 0;
      for (Index s = 0; s < S; ++s) {
        const Index place = chunk.places[at(i * S + s)];
        columns[at(s)] = columns_.data() + place * columns_.rows();
        kappa += diagonal_[place];
      }
      WarmStart start;
      Vector scores;
      for (size_t m = 0; m < path_.size(); ++m) {
        Evidence evidence{nullptr, columns, kappa};
        if (scorers_[m]->needs_code()) {
          WindowCoder& worker = workers[at(slot)][m];
          worker.start(start);
          evidence.code = &worker.encode({columns, columns_.rows()}, kappa);
          start = warm_start(*evidence.code);
        }
        scorers_[m]->score(evidence, scores);
        scores.maxCoeff(&classes_[m][at(chunk.first + i)]);
      }
    });
  }

  std::span<const Model> path_;
  const Samples& samples_;
  std::span<const Index> which_;
  std::unique_ptr<const Kernel> kernel_;
  std::vector<std::unique_ptr<const Coder>> coders_;
  std::vector<std::unique_ptr<const Scorer>> scorers_;
  Matrix columns_;  // d x pixels of the chunk
  Vector diagonal_;
  std::vector<std::vector<Index>> classes_;
};

}  // namespace

std::vector<std::vector<Index>> predict_samples(std::span<const Model> path, const Samples& samples,
                                                std::span<const Index> which) {
  if (path.empty() || which.empty()) return std::vector<std::vector<Index>>(path.size());
  return PathPredictor(path, samples, which).run();
}

}  // namespace hyperatom
