// The coder for S > 1: a working set of rows, and Newton's method in their norms.
//
// For eta_j > 0 let A(eta) = (K + lambda1 diag(1/eta))^-1 B. Since min over eta of (||a||^2/eta +
// eta)/2 is
// ||a||, minimising the coding problem over A is minimising
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
// quadratic model under them; a row at its bound leaves. f never increases: a step that would raise
// it is shortened.
//
// Neighbouring windows share most rows and norms, so (rows, eta) is all that is carried from one to
// the next.
//
// A right-rotation A -> A Q leaves the problem's form unchanged, so when S is large the rows of B
// are written in an orthonormal basis of the space they span: |rows| columns instead of S.
#pragma once

#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/residual.hpp"
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
  /// The rows of B in a basis that grows with the working set.
  struct RowSpace {
    void reset(Index columns);
    /// Coordinates of a row of B (length = columns, padded) are written to `coordinates`.
    void add(const double* row, double* coordinates);
    Index size() const { return identity ? columns : basis.rows(); }

    bool identity = true;
    Index columns = 0;
    SmallMatrix basis;  // orthonormal rows
    std::vector<double> rest, along;
  };

  bool solve_by_splitting(const Columns& B, double kappa, SparseCode& code);
  void begin(const Columns& B, double kappa);
  void append(Index row, double eta);
  void gather_gram();
  bool evaluate();
  double working_gap() const;
  enum class Model { secular, newton };
  void solve_bounded_model(Model model, double damping);
  void propose(Model model, double damping);
  void retreat(double part);
  bool descend(int attempts);
  bool newton_step();
  void reduce_gap_to(double tolerance);
  void check(SparseCode& code);
  bool grow();
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
  RowSpace space_;
  SmallMatrix targets_;  // rows of B in the coordinates of space_
  SmallMatrix gram_;     // K on the working set
  bool gram_stale_ = true;

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
  SmallMatrix A_, image_;  // |rows| x S: the code, and K times it
  std::vector<double> squares_;
  double largest_square_ = 0;

  SmallMatrix model_, T_;
  std::vector<double> z_, w_, pushed_, free_z_, row_;
  std::vector<Index> free_, keep_, worst_;
  std::vector<char> fixed_;
};

}  // namespace hyperatom
