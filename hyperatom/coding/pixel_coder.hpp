// The coder for S = 1: LassoSolver, or EliminationSolver where that is expected to be faster.
//
// What they cost is told by their steps, rows that enter or leave: elimination takes one for every
// active row, LassoSolver one for every row that the code before had not, or alone had, and both
// take more for rows in vain. They are counted: counts are the same on every machine, times are
// not.
#pragma once

#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/coding/elimination_solver.hpp"
#include "hyperatom/coding/lasso_solver.hpp"

namespace hyperatom {

class PixelCoder {
 public:
  PixelCoder(const AtomGram& K, const CoderOptions& options);

  /// As LassoSolver::start().
  void start(const WarmStart& start);

  /// `next`, if known, is what the next call will be given. The code, valid until then, does not
  /// depend on it.
  const SparseCode& solve(const Pixel& pixel, const Pixel* next);

 private:
  void ask();
  const SparseCode* eliminate(const Pixel& pixel, const Pixel* next);
  int learn(const EliminationSolver::Rows& rows);

  const double packs_;                          // of atoms
  std::vector<EliminationSolver> elimination_;  // for few atoms: two
  size_t turn_ = 0;                             // of them
  const double* foreseen_ = nullptr;            // the pixel that the other one has solved
  LassoSolver lasso_;
  SparseCode code_;  // by lasso_

  bool eliminating_ = false;
  int until_asked_ = 0;                // pixels until it is
  bool lasso_known_ = false;           // since the start
  EliminationSolver::Rows rows_ = {};  // of the last code
  // Means over the last pixels.
  double active_ = 0;              // rows of a code
  double changes_ = 0;             // rows that it or the one before has, but not both
  double eliminated_in_vain_ = 0;  // steps of elimination beyond active_
  double changed_in_vain_ = 0;     // steps of lasso_ beyond changes_
};

}  // namespace hyperatom
