#include "hyperatom/coding/pixel_coder.hpp"

#include <bit>
#include <utility>

namespace hyperatom {
namespace {

/// The means are of about so many pixels, and which solver is asked as often.
constexpr int memory = 16;

/// Per pixel coded without it: elimination is tried again some time.
constexpr double forgetting = 1 - 1.0 / 1024;

/// Rows in vain that keep from elimination for thousands of pixels, since it has failed.
constexpr double failure = 1000;

/// What a pixel with so many active rows costs, in nanoseconds of one machine (decision 016).
double by_elimination(double packs, double rows, double in_vain) {
  const double entering = rows + in_vain / 2, leaving = in_vain / 2;
  return 29 + entering * (19 + 1.2 * packs + 0.07 * packs * rows) +
         leaving * (33 + 1.7 * packs + 0.45 * packs * rows);
}
double by_lasso(double packs, double rows, double steps) {
  return 27 + 14 * rows + steps * (22 + 1.2 * packs + 0.0054 * rows * rows * rows);
}

void blend(double& mean, double value) { mean += (value - mean) / memory; }

}  // namespace

PixelCoder::PixelCoder(const AtomGram& K, const CoderOptions& options)
    : packs_(static_cast<double>((K.size() + simd::width - 1) / simd::width)), lasso_(K, options) {
  if (K.size() <= AtomGram::few)
    for (int each = 0; each < 2; ++each) elimination_.emplace_back(K, options);
}

void PixelCoder::start(const WarmStart& start) {
  lasso_.start(start);
  active_ = static_cast<double>(start.rows.size());
  changes_ = eliminated_in_vain_ = changed_in_vain_ = 0;
  lasso_known_ = false;
  rows_ = {};
  until_asked_ = 0;
  foreseen_ = nullptr;
}

const SparseCode& PixelCoder::solve(const Pixel& pixel, const Pixel* next) {
  if (elimination_.empty()) {
    lasso_.solve(pixel.column, pixel.kappa, code_);
    return code_;
  }
  if (--until_asked_ < 0) ask();
  if (eliminating_)
    if (const SparseCode* code = eliminate(pixel, next)) return *code;
  foreseen_ = nullptr;
  lasso_.solve(pixel.column, pixel.kappa, code_);
  EliminationSolver::Rows rows = {};
  for (const Index row : code_.active) rows[at(row / 64)] |= std::uint64_t{1} << (row % 64);
  blend(changed_in_vain_, code_.steps - learn(rows));
  eliminated_in_vain_ *= forgetting;
  lasso_known_ = true;
  return code_;
}

void PixelCoder::ask() {
  until_asked_ = memory - 1;
  if (!lasso_known_) changed_in_vain_ = eliminated_in_vain_ / 2;  // as a rule
  eliminating_ = by_elimination(packs_, active_, eliminated_in_vain_) <=
                 by_lasso(packs_, active_, changes_ + changed_in_vain_);
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
    eliminated_in_vain_ = failure;
    until_asked_ = 0;
    return nullptr;
  }
  const SparseCode& code = solver.code();
  blend(eliminated_in_vain_, code.steps - static_cast<double>(code.active.size()));
  learn(solver.rows());
  return &code;
}

/// From the rows of the pixel's code; in how many they differ from the last one's.
int PixelCoder::learn(const EliminationSolver::Rows& rows) {
  int active = 0, changes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    active += std::popcount(rows[i]);
    changes += std::popcount(rows[i] ^ rows_[i]);
  }
  blend(active_, active);
  blend(changes_, changes);
  rows_ = rows;
  return changes;
}

}  // namespace hyperatom
