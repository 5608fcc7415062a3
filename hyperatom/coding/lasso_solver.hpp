// The coder for S = 1: a primal active-set method on the signs.
//
// With the rows W and their signs s held, the minimiser is a = Q (b_W - lambda1 s), Q = K_WW^-1.
// The solver walks from a point whose signs are right straight towards that minimiser; a
// coefficient that reaches zero on the way leaves W. Then the row that violates |g_j| <= lambda1
// most, g = b - K a, enters. Q does not depend on the pixel: it is kept from one to the next and
// updated in O(|W|^2) when a row enters or leaves.
//
// Where g of all rows costs much more than a step, the worst violators are listed and let in one
// after the other, with g of those on the list alone, until none of them violates.
//
// A row that depends linearly on W (a duplicate atom) can't enter a regular K_WW: the objective
// falls linearly along the direction that trades it for W, so some coefficient of W reaches zero
// there, and leaves for it.
#pragma once

#include <vector>

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
  Index size() const { return static_cast<Index>(rows_.size()); }
  double* inverse_row(Index i) { return inverse_.data() + i * stride_; }
  void rebuild();
  void reserve(Index rows);
  double schur_complement(Index row);
  void push(Index row, double value, double sign, double schur);
  void remove(Index i);
  void aim(const double* b);
  void walk();
  void residual(const double* b);
  void refine();
  bool enter(Index row, const double* b);
  void list_violators();
  const double* listed_column(Index row);
  Index worst_listed(const double* b);
  void enter_listed(const double* b, Index& last);
  Certificate certificate(const double* b, double kappa) const;
  Index worst_violator() const;
  void finish(SparseCode& code) const;

  const AtomGram& K_;
  const CoderOptions& options_;

  std::vector<Index> rows_;       // W
  std::vector<double> a_, sign_;  // its coefficients; sign_[i] * a_[i] >= 0
  std::vector<char> in_set_;      // for every atom
  std::vector<double> inverse_;   // Q by rows of stride_, zero beyond size()
  Index stride_ = 0;
  int updates_ = 0;  // of Q since it was last built from K
  int steps_ = 0;

  std::vector<double> g_;            // b - K a for every atom
  double largest_ = 0;               // max |g|
  std::vector<Index> listed_;        // violators
  std::vector<Index> listed_seen_;   // rows whose entries are in listed_gram_
  std::vector<Index> listed_place_;  // of every atom there, or -1
  std::vector<double> listed_gram_;  // K(listed_, row), row after row
  std::vector<double> target_, cross_, image_;
};

}  // namespace hyperatom
