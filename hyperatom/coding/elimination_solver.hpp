// The coder for S = 1 and few atoms where neighbours have little in common: every pixel begins with
// nothing.
//
// With rows W and their signs s held, Gaussian elimination of K_WW takes all atoms along, so that g
// = b - K a at the minimiser is known after every row, and a is not needed. The row that violates
// |g_j| <= lambda1 most is next. When none does any more, a follows by substitution. Rows whose
// coefficients have another sign than they entered with are taken out of the elimination, and more
// may enter.
//
// A row takes less time than it takes LassoSolver, which keeps an inverse. But where pixels are
// alike that has most rows of a code from the last pixel, and few that must leave (PixelCoder).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/coder.hpp"

namespace hyperatom {

class EliminationSolver {
 public:
  /// For no more than AtomGram::few atoms.
  EliminationSolver(const AtomGram& K, const CoderOptions& options);

  void solve(const Pixel& pixel);

  /// Solves both: while one waits for what it has just found, the other goes on.
  static void solve_both(EliminationSolver& one, const Pixel& pixel, EliminationSolver& other,
                         const Pixel& next);

  /// Of the last pixel: not where rounding, dependent atoms or signs without end stood in the way.
  bool solved() const { return solved_; }
  const SparseCode& code() const { return code_; }

  /// Its active rows: a bit for every atom.
  using Rows = std::array<std::uint64_t, simd::places / 64>;
  const Rows& rows() const { return entered_; }

 private:
  template <class F>
  void with_packs(const F& f) const;
  void reserve(Index rows);
  template <int packs>
  void begin(const double* b);
  void set_worst(double placed) {
    largest_ = placed;
    worst_ = simd::place_of(placed);
  }
  bool has(Index row) const { return entered_[at(row / 64)] >> (row % 64) & 1; }
  void flip(Index row) { entered_[at(row / 64)] ^= std::uint64_t{1} << (row % 64); }
  template <int packs>
  void residual();
  template <int packs>
  bool enter(Index row);
  bool violated() const { return largest_ > bound_ && !has(worst_) && steps_ < options_.max_steps; }
  template <int packs>
  bool grow();
  void substitute();
  template <int packs>
  bool turn_back();
  template <int packs>
  void take_out(Index place);
  void refactor(Index first);
  template <int packs>
  bool certified(double kappa);
  void write_code();
  template <int packs>
  void finish(double kappa);

  const AtomGram& K_;
  const CoderOptions& options_;
  const double bound_;  // a row with a larger |g| violates its own
  const Index stride_;  // atoms, up to whole blocks
  simd::Aligned b_;     // with zeros up to there
  simd::Aligned g_;     // of every atom, with the rows that have entered
  Index worst_ = 0;     // the atom with the largest |g|
  double largest_ = 0;  // that

  // Of the rows of W as they entered, with zeros up to whole packs.
  Index size_ = 0, reserved_ = 0;
  std::vector<Index> rows_;
  std::vector<const double*> columns_;  // of K
  // Of the columns, by rows of stride_: what earlier rows leave, and how much of each they took.
  simd::Aligned remainders_, factors_;
  simd::Aligned inverse_pivots_;
  simd::Aligned ways_;  // of g along the remainders
  simd::Aligned signs_, a_;
  Rows entered_ = {};   // W
  simd::Aligned left_;  // of a row that is taken out
  int steps_ = 0;
  SparseCode code_;
  bool solved_ = false;
};

}  // namespace hyperatom
