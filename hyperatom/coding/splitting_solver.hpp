// The coder for dense codes, where a step of Newton's method, which costs the cube of the active
// rows, is dear and K is far from singular. It is the Douglas-Rachford splitting (ADMM) of the
// coding problem, in a diagonal metric r and accelerated by Anderson's mixing:
//
//   Z = prox(V)     A = (K + diag(r))^-1 (B + r o (2 Z - V))     V <- V + 1.7 (A - Z), mixed
//
// Rows of V, Z and A are kept multiplied by sqrt(r), so that the metric is plain.
//
// Iterations are in float, which costs half. Nothing is lost by it: with Z0 a code near the
// solution, and G0 = B - K Z0 in double, A = Z0 + (K + diag(r))^-1 (G0 + r o (2 Z - V - Z0)), where
// all that is rounded is small. Every certificate brings Z and its exact G, the next Z0.
//
// The certificate is not the scaled residual of JointSolver, whose duality gap is proportional to
// the violation of the optimality conditions. K is regular here, so that any T with rows no longer
// than lambda1 is the gradient of some dual point, and with G = B - K Z
//
//   objective(Z) - optimum <= 1/2 <G - T, K^-1 (G - T)> + sum_j (lambda1 ||z_j|| - <t_j, z_j>),
//
// which is proportional to the square of the error if T follows the gradient at A.
#pragma once

#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/small_matrix.hpp"

namespace hyperatom {

class SplittingSolver {
 public:
  SplittingSolver(const AtomGram& K, const CoderOptions& options);

  /// Forgets the previous window.
  void start();

  /// To be told of every window that Newton's method solved: the next starts from its code, if this
  /// solver is likely to be faster there.
  void follow(const Columns& B, const SparseCode& code);

  /// Whether it is to solve the next window.
  bool follows() const { return follows_; }

  /// Solves from the previous window; `norms` of all rows, by what is known of them, set the
  /// metric. Afterwards they are those of the code. False where there is no such window, or the
  /// code could not be certified.
  bool solve(const Columns& B, double kappa, std::vector<double>& norms, SparseCode& code);

 private:
  double cost(double iterations) const;
  double newton_cost(const SparseCode& code) const;
  void prepare();
  void set_metric(const std::vector<double>& norms);
  void resize(Index columns);
  void begin(const Columns& B);
  void adapt_scale();
  void shrink();
  struct Residual {
    double square = 0;  // ||A - Z||^2
    double far = 0;     // ||A - reference||^2
  };
  template <int count>
  Residual residual();
  template <int count>
  void mix();
  template <int count>
  void move(const double* share);
  void extend_history();
  void make_exact();
  void subtract_image();
  void certify(double kappa, std::vector<double>& norms, SparseCode& code);
  void refer_to_exact();
  void write(const std::vector<double>& norms, SparseCode& code) const;

  const AtomGram& K_;
  const CoderOptions& options_;
  Index stride_;       // of a column: the atoms, padded
  Index columns_ = 0;  // S
  enum class Inverse { unknown, none, known } inverse_state_ = Inverse::unknown;
  std::vector<double> gram_, inverse_;  // K, K^-1

  // The metric, and diag(sqrt r) (K + diag(r))^-1 diag(sqrt r).
  std::vector<double> root_, inverse_root_;  // sqrt(r)
  std::vector<float> threshold_;             // lambda1 / sqrt(r)
  std::vector<float> resolvent_;
  int age_ = 0;  // windows since follow()
  double scale_;
  bool growing_;
  int sum_, last_sum_;  // iterations with this metric, with the last

  // d x S, column by column. G_ = B_ - K Z, exact for the Z of the last certificate, exact_.
  std::vector<double> B_, G_, exact_, T_, image_;
  std::vector<float> V_, Z_, reference_, constant_, right_, resolved_, F_, step_;
  std::vector<double> scratch_;
  SmallMatrix shifted_;

  // The last differences of F, the oldest first, those of V + F, and the products of the former.
  static constexpr int memory = 5;
  std::vector<float> pool_;
  float *difference_[memory], *mixed_[memory];
  double products_[memory][memory], along_[memory];
  int history_ = 0;

  double objective_ = 0;  // of the last certified code
  double looseness_;      // the certificate over ||A - Z||^2, when last seen

  // Which solver is faster.
  bool follows_;          // the previous window's code is here
  double iterations_;     // of late
  int newton_steps_ = 0;  // of the last window that Newton's method solved
  int pause_, penalty_;   // windows that are left to Newton's method, and that will be next time
};

}  // namespace hyperatom
