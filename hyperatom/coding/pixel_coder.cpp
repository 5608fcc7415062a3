#include "hyperatom/coding/pixel_coder.hpp"

#include <bit>
#include <utility>

namespace hyperatom {
namespace {

/// Steps of elimination that take as long as one of LassoSolver, and one in vain, for which a row
/// is taken out (decision 016).
constexpr double worth = 1.35, worth_in_vain = worth / 3;

/// The means are of about so many pixels, and which solver is asked as often.
constexpr int memory = 16;

/// Per pixel coded without it: elimination is tried again some time.
constexpr double forgetting = 1 - 1.0 / 1024;

/// Detours that keep from elimination for thousands of pixels, since it has failed.
constexpr double failure = 1000;

void blend(double& mean, double value) { mean += (value - mean) / memory; }

int changes(const EliminationSolver::Rows& from, const EliminationSolver::Rows& to) {
  int count = 0;
  for (size_t i = 0; i < to.size(); ++i) count += std::popcount(from[i] ^ to[i]);
  return count;
}

}  // namespace

PixelCoder::PixelCoder(const AtomGram& K, const CoderOptions& options) : lasso_(K, options) {
  if (K.size() <= AtomGram::few)
    for (int each = 0; each < 2; ++each) elimination_.emplace_back(K, options);
}

void PixelCoder::start(const WarmStart& start) {
  lasso_.start(start);
  active_ = static_cast<double>(start.rows.size());
  changes_ = detours_ = 0;
  rows_ = {};
  until_asked_ = 0;
  foreseen_ = nullptr;
}

const SparseCode& PixelCoder::solve(const Pixel& pixel, const Pixel* next) {
  if (--until_asked_ < 0) {
    until_asked_ = memory - 1;
    eliminating_ = active_ / worth + detours_ / worth_in_vain <= changes_;
  }
  if (!elimination_.empty() && eliminating_)
    if (const SparseCode* code = eliminate(pixel, next)) return *code;
  foreseen_ = nullptr;
  lasso_.solve(pixel.column, pixel.kappa, code_);
  blend(active_, static_cast<double>(code_.active.size()));
  blend(changes_, code_.steps);
  detours_ *= forgetting;
  return code_;
}

/// Null where elimination fails.
const SparseCode* PixelCoder::eliminate(const Pixel& pixel, const Pixel* next) {
  if (std::exchange(foreseen_, nullptr) == pixel.column)
    turn_ = 1 - turn_;
  else if (next == nullptr)
    elimination_[turn_].solve(pixel);
  else {
    EliminationSolver::solve_both(elimination_[turn_], pixel, elimination_[1 - turn_], *next);
    foreseen_ = next->column;
  }
  const EliminationSolver& solver = elimination_[turn_];
  if (!solver.solved()) {
    detours_ = failure;
    until_asked_ = 0;
    return nullptr;
  }
  const auto active = static_cast<double>(solver.code().active.size());
  blend(active_, active);
  blend(changes_, changes(rows_, solver.rows()));
  blend(detours_, solver.code().steps - active);
  rows_ = solver.rows();
  return &solver.code();
}

}  // namespace hyperatom
