#include "hyperatom/learn/gradient.hpp"

#include "hyperatom/base/parallel.hpp"

namespace hyperatom {
namespace {

Matrix columns(const Matrix& M, const std::vector<Index>& which) {
  Matrix part(M.rows(), static_cast<Index>(which.size()));
  for (size_t i = 0; i < which.size(); ++i) part.col(static_cast<Index>(i)) = M.col(which[i]);
  return part;
}

SampleGradient on_active_atoms(const SparseCode& code) {
  SampleGradient part;
  part.active = code.active;
  part.code = code.A.col(0);
  part.gap = code.objective > 0 ? code.gap / code.objective : code.gap;
  part.converged = code.converged;
  return part;
}

}  // namespace

Vector class_scores(const Parameters& parameters, const SparseCode& code) {
  Vector scores = parameters.b;
  for (size_t i = 0; i < code.active.size(); ++i)
    scores += code.A(static_cast<Index>(i), 0) * parameters.W.col(code.active[i]);
  return scores;
}

SampleGradient task_gradient(const Kernel& kernel, const Coder& coder, const Loss& loss,
                             const Parameters& parameters, const MatrixView& X, Index y,
                             const SparseCode& code) {
  SampleGradient part = on_active_atoms(code);
  const Vector scores = class_scores(parameters, code);
  Index best = 0;
  scores.maxCoeff(&best);
  part.correct = best == y;
  part.loss = loss.value(scores, y);
  part.slope = loss.gradient(scores, y);

  RowMatrix g = RowMatrix::Zero(code.A.rows(), code.A.cols());
  g.col(0) = columns(parameters.W, code.active).transpose() * part.slope;
  const Matrix beta = coder.adjoint(code, g).beta;
  part.atoms = kernel.pullback(columns(parameters.D, code.active), X, beta);
  part.pairs = beta * code.A.transpose();
  part.pairs += part.pairs.transpose().eval();
  return part;
}

SampleGradient reconstruction_gradient(const Kernel& kernel, const Parameters& parameters,
                                       const MatrixView& X, const SparseCode& code) {
  SampleGradient part = on_active_atoms(code);
  part.loss = code.objective;
  const Matrix A = code.A;
  part.atoms = -kernel.pullback(columns(parameters.D, code.active), X, A);
  part.pairs = -A * A.transpose();
  return part;
}

Parameters sum_gradients(const Kernel& kernel, const Parameters& parameters,
                         std::span<const SampleGradient> parts, std::span<const double> weights) {
  const Index d = parameters.atoms();
  Parameters sum{Matrix::Zero(parameters.D.rows(), d), Matrix::Zero(parameters.W.rows(), d),
                 Vector::Zero(parameters.b.size())};
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].slope.size() > 0) sum.b += weights[i] * parts[i].slope;
  parallel_for_blocks(d, 8, [&](Index first, Index count) {  // what belongs to some atoms
    Matrix pairs = Matrix::Zero(count, d);
    for (size_t i = 0; i < parts.size(); ++i) {
      const SampleGradient& part = parts[i];
      const Vector slope = weights[i] * part.slope;
      for (size_t k = 0; k < part.active.size(); ++k) {
        const Index column = static_cast<Index>(k), atom = part.active[k];
        if (atom < first || atom >= first + count) continue;
        sum.D.col(atom) += weights[i] * part.atoms.col(column);
        if (slope.size() > 0) sum.W.col(atom) += part.code[column] * slope;
        for (size_t l = 0; l < part.active.size(); ++l)
          pairs(atom - first, part.active[l]) +=
              weights[i] * part.pairs(column, static_cast<Index>(l));
      }
    }
    sum.D.middleCols(first, count) -=
        kernel.pullback(parameters.D.middleCols(first, count), parameters.D, pairs);
  });
  return sum;
}

}  // namespace hyperatom
