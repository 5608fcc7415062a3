// The coder for S = 1: a primal active-set method on the signs.
//
// With the rows W and their signs s held, the minimiser is a = Q (b_W - lambda1 s), Q = K_WW^-1.
// The solver walks from a point whose signs are right straight towards that minimiser; a
// coefficient that reaches zero on the way leaves W. Then the row that violates |g_j| <= lambda1
// most, g = b - K a, enters. Q does not depend on the pixel: it is kept from one to the next and
// updated in O(|W|^2) when a row enters or leaves. A pixel begins with the rows of the last that
// have their signs in its own minimiser.
//
// With few atoms violators are looked for in float, from where the last row entered. g in double
// judges when none is seen any more, and may find others.
//
// Where g of all rows costs much more than a step, the worst violators are listed and let in one
// after the other, with g of those on the list alone, until none of them violates.
//
// A row that depends linearly on W (a duplicate atom) can't enter a regular K_WW: the objective
// falls linearly along the direction that trades it for W, so some coefficient of W reaches zero
// there, and leaves for it.
#pragma once

#include <cstdint>
#include <vector>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/residual.hpp"

namespace hyperatom {

class LassoSolver {
 public:
  LassoSolver(const AtomGram& K, const CoderOptions& options);

  /// Rows of the dictionary, each once, with finite values that are not zero.
  void start(const WarmStart& start);
  void solve(const double* b, double kappa, SparseCode& code);

 private:
  /// Of what all slots take part in: whole packs, whose number may be known.
  template <int packs = 0>
  Index length() const {
    return packs > 0 ? packs * simd::width : simd::round_up(slots_);
  }
  /// f.operator()<packs>() for the present number of packs, 0 if there are many or none.
  template <class F>
  void with_packs(const F& f) const;
  double* inverse_row(Index i) { return inverse_.data() + i * stride_; }
  void clear();
  void rebuild();
  void reserve(Index slots);
  template <int packs>
  double schur_complement(Index row);
  template <int packs>
  void push(Index row, double value, double sign, double schur, double way);
  void push_independent(Index row, double value, double sign);
  template <int packs, int count>
  void drop(const Index* slots);
  simd::IntPack turns(Index first) const;
  void aim(const double* b);
  void settle();
  void walk();
  template <int packs>
  void walk();
  void residual();
  Index rough_violator();
  void refine();
  bool enter(Index row);
  bool trade(Index row, double sign);
  Index count_above(double bound) const;
  void list_violators();
  const double* listed_column(Index row);
  Index worst_listed();
  void enter_listed(Index& last);
  Certificate certificate(double kappa) const;
  Index worst_violator() const;
  void finish(SparseCode& code) const;

  const AtomGram& K_;
  const CoderOptions& options_;
  const double obvious_;  // a violation that alone makes the gap too large

  // W has slots. Those that rows have left are free for others; their coefficients, signs and
  // entries of Q are zero, so that they may take part in everything.
  Index slots_ = 0;                     // up to the last that is taken
  Index size_ = 0;                      // |W|
  std::vector<Index> rows_;             // of the slots; of a free one any row
  std::vector<const double*> columns_;  // of K, of the slots
  simd::Aligned a_, sign_;              // coefficients; sign_[i] * a_[i] >= 0
  std::vector<std::uint64_t> taken_;    // a bit for every slot
  std::vector<Index> slot_;             // of every atom, or -1
  std::vector<std::uint64_t> members_;  // a bit for every atom: whether it is in W
  simd::Aligned inverse_;               // Q by rows of stride_
  Index stride_ = 0;                    // more than slots_, a multiple of whole packs
  int updates_ = 0;                     // of Q since it was last built from K
  int steps_ = 0;

  simd::Aligned b_;                       // of the pixel, with zeros up to whole blocks
  simd::Aligned g_;                       // b - K a for every atom
  double largest_ = 0;                    // max |g|
  std::vector<std::uint64_t> violators_;  // to be sorted out
  std::vector<Index> listed_;             // the worst of them
  std::vector<Index> listed_seen_;        // rows whose entries are in listed_gram_
  std::vector<Index> listed_place_;       // of every atom there, or -1
  simd::Aligned listed_gram_;             // K(listed_, row), row after row
  simd::Aligned target_, cross_, image_, until_;
  double way_ = 0;        // that the last row went when it entered, the others along -image_
  bool on_line_ = false;  // whether nothing but that has moved the point since the last look
  std::vector<float> rough_g_, rough_b_, rough_x_;  // for few atoms
  std::vector<const float*> rough_columns_;
  std::vector<const double*> packed_columns_;  // of the slots that are not empty
};

}  // namespace hyperatom
