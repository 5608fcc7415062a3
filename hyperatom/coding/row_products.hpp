// Inner products of the rows of B, for windows of many pixels: coding needs nothing else of them.
//
// For A = M B_W with a symmetric M every quantity of the problem is one of C = B B' alone, whatever
// S is:
//
//   <B, A> = tr(M C_WW)     A A' = M C_WW M     ||G_j||^2 = C_jj - 2 h_j' C_Wj + h_j' C_WW h_j
//
// with h_j = M K_Wj. What is lost are digits: ||G_j||^2 is a difference of numbers as large as
// ||B_j||^2.
#pragma once

#include <span>
#include <vector>

#include "hyperatom/coding/atom_gram.hpp"
#include "hyperatom/coding/columns.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {

class RowProducts {
 public:
  /// Forgets the products of the window before.
  void begin(const Columns& B);

  /// Makes products of these rows known. O(d |rows| S), for those that were not.
  void require(std::span<const Index> rows);

  /// <B_i, B_j> for all j, of a row i that was required; zeros up to a whole block.
  const double* row(Index i) const { return values_.data() + place_[at(i)] * stride_; }
  /// What rounding may do to a product.
  double rounding() const { return rounding_; }

  /// ||B_j - K(j, rows) M B_rows||^2 for every j; of rows that were required, with a symmetric M
  /// and C = B_rows B_rows'. Returns the largest 1 + sum_i |h_ij|, whose square times rounding()
  /// may be wrong with them. O(d |rows|^2).
  double residual_row_squares(const AtomGram& K, std::span<const Index> rows, const SmallMatrix& M,
                              const SmallMatrix& C, std::vector<double>& squares);

 private:
  const Columns* B_ = nullptr;
  Index stride_ = 0;
  std::vector<Index> place_;     // of a row among the known ones, or -1
  std::vector<Index> known_;     // rows
  std::vector<double> values_;   // row after row, stride_ apart
  std::vector<double> squares_;  // ||B_j||^2
  double rounding_ = 0;
  std::vector<double> factors_;         // rows of B that become known, column after column
  std::vector<double> representation_;  // h of a block of rows j
};

}  // namespace hyperatom
