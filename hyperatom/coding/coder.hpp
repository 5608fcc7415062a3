// The joint sparse coder. For K = k(D,D) (d x d) and B = k(D,X) (d x S), X the S pixels of one
// window, the centre first, it minimises over A (d x S)
//
//   1/2 tr(A'KA) - tr(B'A) + lambda1 sum_j ||a_j||_2 + lambda2/2 ||A||_F^2        (a_j: row j of A)
//
// and says how far from the minimum it may be at most (the duality gap). S = 1 is the lasso. The
// problem knows nothing of pixels or kernels beyond kappa = sum_s k(x_s, x_s), which the
// certificate needs.
//
// Cost per window with m active rows: a few times O(m^3 + m^2 S) for the Newton steps and a few
// times O(d m S) for the optimality checks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hyperatom/coding/atom_gram.hpp"
#include "hyperatom/coding/columns.hpp"

namespace hyperatom {

struct CoderOptions {
  double lambda1 = 0.1;     ///< weight of the joint sparsity (the paper's lambda_1), >= 0
  double lambda2 = 0;       ///< weight of the squared norm (the paper's lambda_2), >= 0
  double tolerance = 1e-6;  ///< largest duality gap, relative to the objective
  int max_steps = 2000;     ///< Newton or active-set steps after which a window is given up
};

/// The minimiser, by its non-zero rows, with its certificate. The objective includes the constant
/// kappa/2, so it is never negative.
struct SparseCode {
  std::vector<Index> active;  ///< Lambda: the rows of A that are not zero, ascending
  RowMatrix A;                ///< |Lambda| x S: the rows `active` of the code
  double objective = 0;
  double gap = 0;          ///< objective - optimum <= gap
  int steps = 0;           ///< Newton or active-set steps taken
  bool converged = false;  ///< gap <= tolerance * objective

  /// The whole d x S code.
  Matrix dense(Index atoms) const;
};

/// Where to begin: rows and, for S = 1, their coefficients, else their norms.
struct WarmStart {
  std::vector<Index> rows;
  std::vector<double> values;
};

WarmStart warm_start(const SparseCode& code);

/// Solution of the adjoint system, and how well it was posed.
struct Adjoint {
  RowMatrix beta;  ///< |Lambda| x S
  Index dependent =
      0;  ///< active rows that others make redundant, to rounding (their part is left out)
  double condition = 1;  ///< largest over smallest pivot of the other rows
};

/// Codes windows over one dictionary. Immutable: threads share it.
class Coder {
 public:
  /// Throws OptionError unless 0 <= lambda1, lambda2 and 0 < tolerance are finite and K is square.
  Coder(const MatrixView& K, const CoderOptions& options);

  const CoderOptions& options() const { return options_; }
  const AtomGram& gram() const { return gram_; }
  Index atoms() const { return gram_.size(); }

  /// One window, from `start`. The result depends on the arguments alone.
  SparseCode encode(const MatrixView& B, double kappa, const WarmStart& start = {}) const;

  /// Step 7 of Algorithm 1: with L the active rows and g of |L| x S, solves for beta
  ///   (K_LL (x) I_S + lambda1 Delta + lambda2 I) vec(beta) = vec(g),
  ///   Delta_j = (I - u_j u_j') / ||a_j||,  u_j = a_j / ||a_j||,
  /// in O(|L|^3 + |L|^2 S) instead of O(|L|^3 S^3) (adjoint.cpp says how).
  Adjoint adjoint(const SparseCode& code, const RowMatrix& g) const;

 private:
  CoderOptions options_;
  AtomGram gram_;
};

class PixelCoder;
class JointSolver;

/// A window of one pixel.
struct Pixel {
  const double* column;  ///< its kernel column
  double kappa;
};

/// One thread's way through many windows of one Coder: each starts from the solution of the one
/// before, which saves most of the work when they are neighbours. The results depend on the
/// sequence since the last start().
class WindowCoder {
 public:
  explicit WindowCoder(const Coder& coder);
  ~WindowCoder();
  WindowCoder(WindowCoder&&) noexcept;
  WindowCoder& operator=(WindowCoder&&) = delete;

  /// Forgets the previous window; the next starts from `start`.
  void start(const WarmStart& start = {});

  /// The code stays valid until the next call. A caller who knows that the next window will be
  /// one pixel may say which: two of them are coded in less time than one after the other, to the
  /// same bits.
  const SparseCode& encode(const Columns& B, double kappa, const Pixel* next = nullptr);

 private:
  const SparseCode& encode_one(const Columns& B, double kappa, const Pixel* next);

  const Coder* coder_;
  std::unique_ptr<PixelCoder> pixel_;
  std::unique_ptr<JointSolver> joint_;
  std::optional<WarmStart> start_;  // of the next window
  SparseCode code_;
};

}  // namespace hyperatom
