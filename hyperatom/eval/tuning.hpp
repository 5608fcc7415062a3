// Settings by cross-validation on training samples. Candidates are ranked by the balanced accuracy
// of held-out samples, which lies between overall and average accuracy.
//
// Where learning takes steps there is successive halving: all candidates are judged after a short
// training, a third of them goes on from where it is to a longer one, and a third of those to one
// longer still. Every round holds out every sample: one fold alone is too few to tell good settings
// apart. Candidates of src-* that differ in lambda1 alone are coded as one path
// (predict/sample_prediction.hpp). Results depend neither on `jobs` nor on interruptions.
#pragma once

#include <functional>
#include <vector>

#include "hyperatom/eval/cross_validation.hpp"
#include "hyperatom/eval/grid.hpp"

namespace hyperatom {

struct TuneOptions {
  FoldRule folds;
  Index jobs = 1;  ///< trials at the same time, one thread each
};

/// A candidate on one fold, in one round.
struct Trial {
  Index candidate = 0;
  Index round = 0;
  Index fold = 0;
  Tally tally;
  double seconds = 0;

  bool same_as(const Trial& other) const {
    return candidate == other.candidate && round == other.round && fold == other.fold;
  }
};

/// How far a candidate came.
struct Standing {
  Index candidate = 0;
  Index round = 0;  ///< the last one it was in
  double overall = 0, average = 0, balanced = 0;
};

struct Tuning {
  std::vector<Standing> standings;  ///< the best first
  Index rounds = 0;
  bool finished = false;  ///< false: it was stopped

  Index best() const { return standings.front().candidate; }
};

struct TuneHooks {
  /// Told every trial that was made, from one thread at a time; to be given back as `known` by one
  /// who goes on.
  std::function<void(const Trial&)> made = {};
  std::function<void(Index done, Index trials)> progress = {};
  std::function<bool()> keep_going = {};
};

/// Throws OptionError, DataError. `known`: trials of an earlier call that was stopped.
Tuning tune(const Method& method, const std::vector<Candidate>& candidates,
            const SamplesOf& samples, Index cols, const TuneOptions& options,
            const std::vector<Trial>& known = {}, const TuneHooks& hooks = {});

}  // namespace hyperatom
