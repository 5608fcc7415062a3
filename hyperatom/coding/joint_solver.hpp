// The coder for S > 1: a working set of rows, and Newton's method in their norms.
//
// For eta_j > 0 let A(eta) = (K + lambda1 diag(1/eta))^-1 B. Since min over eta of (||a||^2/eta +
// eta)/2 is ||a||, minimising the coding problem over A is minimising
//
//   f(eta) = -1/2 <B, A(eta)> + lambda1/2 sum_j eta_j        over eta >= 0,
//
// smooth, convex, and of |rows| unknowns instead of |rows| x S; at the optimum eta_j = ||a_j||.
// With E = diag(sqrt(eta)), everything comes from one inverse:
//
//   P = (I + E K E / lambda1)^-1      Y = P E B      A = E Y / lambda1      G = B - K A = E^-1 Y
//   df/deta_j = lambda1/2 (1 - ||G_j||^2 / lambda1^2)
//
// and Newton's equation for the relative change z of eta is T z = w with T = (I - P) o (Y Y'). For
// w, the secular form w_j = ||Y_j||^2 (||G_j|| / lambda1 - 1) is used: 1/||G_j|| is nearly linear
// in eta (exactly, for one row), ||G_j||^2 is not. The bounds z >= -1 are kept by solving the
// quadratic model under them; a row at its bound leaves. Rows outside the set that violate ||G_j||
// <= lambda1 are added to the model with norm zero and z >= 0, which takes no inverse: those that
// it gives a norm enter. f never increases: a step that would raise it is shortened.
//
// Neighbouring windows share most rows and norms, so (rows, eta) is all that is carried from one to
// the next.
//
// Where S is large only inner products of the rows of B are worked with (row_products.hpp): then
// nothing but the code itself, at the end, costs more for more columns.
#pragma once

#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/residual.hpp"
#include "hyperatom/coding/row_products.hpp"
#include "hyperatom/coding/small_matrix.hpp"
#include "hyperatom/coding/splitting_solver.hpp"

namespace hyperatom {

class JointSolver {
 public:
  JointSolver(const AtomGram& K, const CoderOptions& options);

  /// Rows of the dictionary, each once, with finite values that are not zero.
  void start(const WarmStart& start);
  void solve(const Columns& B, double kappa, SparseCode& code);

 private:
  bool solve_by_splitting(const Columns& B, double kappa, SparseCode& code);
  void begin(const Columns& B, double kappa, bool by_products);
  void append(Index row, double eta);
  template <class RowOf>
  void gather_symmetric(const RowOf& row_of, SmallMatrix& target) const;
  void gather_squared();
  bool invert();
  bool evaluate();
  double working_gap() const;
  enum class Model { secular, newton };
  void form_model(Model model, double damping);
  void solve_free();
  void solve_model();
  void propose(Model model, double damping);
  void retreat(double part);
  bool descend(int attempts);
  bool newton_step();
  void reduce_gap_to(double tolerance);
  struct Sums {
    double norms = 0;          // sum_j ||a_j||
    double code_target = 0;    // <B, A>
    double code_residual = 0;  // <A, G>
    // By products, for what rounding may do to them: the sums of |M_ij|, and of their squares by
    // rows over the norms.
    double sizes = 0, norms_rounding = 0;
  };
  Sums sums_of_code();
  Sums sums_by_products();
  void check(SparseCode& code);
  bool find_violators();
  void products_of_violators();
  void extend_model();
  void let_in(const std::vector<double>& entering, bool moving);
  bool grow();
  void iterate(const Columns& B, double kappa, bool by_products, SparseCode& code);
  bool prefers_products(const Columns& B, double kappa) const;
  void finish(SparseCode& code);

  const AtomGram& K_;
  const CoderOptions& options_;
  const Columns* B_ = nullptr;
  double kappa_ = 0;

  SplittingSolver splitting_;
  std::vector<double> norms_;  // of all rows, for it

  std::vector<Index> rows_;   // the working set
  std::vector<double> eta_;   // its norms, all > 0
  std::vector<char> in_set_;  // for every atom
  bool by_products_ = false;
  RowProducts products_;
  SmallMatrix targets_;    // its rows of B, unless by_products_
  SmallMatrix gram_;       // K on it
  SmallMatrix squared_;    // B B' on it, if by_products_
  bool stale_ = true;      // gram_ and squared_
  bool inverted_ = false;  // P_ and root_ are those of (rows_, eta_)

  // At the point (rows_, eta_), by evaluate():
  SmallMatrix P_, scaled_targets_, Y_, transposed_, YY_;
  std::vector<double> root_;      // sqrt(eta)
  std::vector<double> residual_;  // ||G_j|| on the working set
  double value_ = 0;              // f
  double rounding_ = 0;           // a bound on the rounding error of f
  double code_target_ = 0;        // <B, A>

  // The accepted point that the last step started from (rows that the step lets in have norm 0),
  // and the step:
  std::vector<Index> base_rows_;
  std::vector<double> base_eta_, step_;
  SmallMatrix base_targets_;  // kept only while rows of it are left out
  double base_value_ = 0;

  double damping_ = 0;
  int steps_ = 0;
  bool stuck_ = false;  // no step lowers f any more: rounding has the last word

  // Of the last check():
  SmallMatrix A_, image_;  // |rows| x S: the code, and K times it or G
  SmallMatrix map_;        // M, if by_products_: the code is M B_W
  std::vector<double> squares_;

  SmallMatrix model_, T_;
  std::vector<double> z_, w_, lowest_, pushed_, free_z_;
  SmallMatrix near_, far_, V_, h_, U_, G_, GW_, GN_, R_, scratch_, extended_;  // extend_model()
  std::vector<double> scale_, entering_;
  std::vector<Index> free_, keep_, worst_;
  std::vector<char> fixed_;
};

}  // namespace hyperatom
