#include "hyperatom/predict/scoring.hpp"

#include <algorithm>

#include "hyperatom/base/simd.hpp"
#include "hyperatom/coding/constant.hpp"

namespace hyperatom {
namespace {

/// Weights and bias have zeros up to whole packs: scores of a few classes stay in registers.
class LinearScorer final : public Scorer {
 public:
  explicit LinearScorer(const Model& model)
      : classes_(model.classes()),
        stride_(simd::round_up(classes_)),
        weights_(at(stride_ * model.atoms()), 0.0),
        bias_(at(stride_), 0.0) {
    for (Index atom = 0; atom < model.atoms(); ++atom)
      for (Index c = 0; c < classes_; ++c)
        weights_[at(atom * stride_ + c)] = model.weights(c, atom);
    std::copy(model.bias.begin(), model.bias.end(), bias_.begin());
  }

  void score(const Evidence& evidence, Vector& scores) const override {
    scores.resize(classes_);
    for (Index first = 0; first < stride_; first += most * simd::width)
      with_constant<1, most>(std::min<Index>(most, (stride_ - first) / simd::width),
                             [&]<int packs> { score_packs<packs>(*evidence.code, first, scores); });
  }

 private:
  static constexpr int most = 4;

  template <int packs>
  void score_packs(const SparseCode& code, Index first, Vector& scores) const {
    simd::Pack sums[packs];
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p) sums[p] = simd::load(bias_.data() + first + p * simd::width);
    const double* a = code.A.data();
    for (const Index atom : code.active) {
      const double* weights = weights_.data() + atom * stride_ + first;
#pragma GCC unroll 4
      for (int p = 0; p < packs; ++p)
        sums[p] += simd::broadcast(*a) * simd::load(weights + p * simd::width);
      a += code.A.cols();
    }
    double all[packs * simd::width];
#pragma GCC unroll 4
    for (int p = 0; p < packs; ++p) simd::store(all + p * simd::width, sums[p]);
    std::copy_n(all, std::min<Index>(packs * simd::width, classes_ - first), &scores[first]);
  }

  Index classes_, stride_;
  simd::Aligned weights_;  // of every atom for all classes
  simd::Aligned bias_;
};

class ResidualScorer final : public Scorer {
 public:
  ResidualScorer(const Model& model, const AtomGram& K) : model_(model), K_(K) {}

  /// ||Phi(X) - Phi(D_c) A_c||^2 = kappa - 2 tr(B_c' A_c) + tr(A_c' K_c A_c).
  void score(const Evidence& evidence, Vector& scores) const override {
    const SparseCode& code = *evidence.code;
    Vector& errors = scores;
    errors.setConstant(model_.classes(), evidence.kappa);
    for (size_t i = 0; i < code.active.size(); ++i) {
      const Index row = static_cast<Index>(i), atom = code.active[i];
      double& error = errors[model_.atom_classes[at(atom)]];
      for (Index s = 0; s < code.A.cols(); ++s)
        error -= 2 * evidence.columns[at(s)][atom] * code.A(row, s);
      error -= model_.coding.lambda2 * code.A.row(row).squaredNorm();  // which K carries
      for (size_t j = 0; j < code.active.size(); ++j)
        if (model_.atom_classes[at(code.active[j])] == model_.atom_classes[at(atom)])
          error +=
              K_(atom, code.active[j]) * code.A.row(row).dot(code.A.row(static_cast<Index>(j)));
    }
    if (evidence.kappa > 0) scores = -errors / evidence.kappa;
  }

 private:
  const Model& model_;
  const AtomGram& K_;
};

class VoteScorer final : public Scorer {
 public:
  explicit VoteScorer(const Model& model) : model_(model) {
    for (Index c = 0, atom = 0; c < model.classes(); ++c) {
      first_.push_back(atom);
      while (atom < model.atoms() && model.atom_classes[at(atom)] == c) ++atom;
    }
    first_.push_back(model.atoms());
  }

  bool needs_code() const override { return false; }

  /// Support vectors of class i carry their weight against class j in row j - 1 for j > i, j for
  /// j < i.
  void score(const Evidence& evidence, Vector& votes) const override {
    const double* column = evidence.columns[0];
    const Index classes = model_.classes();
    votes.setZero(classes);
    for (Index i = 0, pair = 0; i < classes; ++i)
      for (Index j = i + 1; j < classes; ++j, ++pair) {
        const double decision = weighted(column, i, j - 1) + weighted(column, j, i);
        votes[decision > model_.bias[pair] ? i : j] += 1;
      }
    votes /= static_cast<double>(classes - 1);
  }

 private:
  /// sum over the support vectors of class c of their weight in `row` times k(d, x).
  double weighted(const double* column, Index c, Index row) const {
    double sum = 0;
    for (Index atom = first_[at(c)]; atom < first_[at(c) + 1]; ++atom)
      sum += model_.weights(row, atom) * column[atom];
    return sum;
  }

  const Model& model_;
  std::vector<Index> first_;  // atom of every class, and the end
};

}  // namespace

std::unique_ptr<const Scorer> make_scorer(const Model& model, const AtomGram& K) {
  switch (model.rule()) {
    case Model::Rule::residual:
      return std::make_unique<ResidualScorer>(model, K);
    case Model::Rule::votes:
      return std::make_unique<VoteScorer>(model);
    case Model::Rule::linear:
      break;
  }
  return std::make_unique<LinearScorer>(model);
}

}  // namespace hyperatom
