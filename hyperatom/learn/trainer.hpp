// The paper's Algorithm 1, and its mini-batch form with Adam.
//
// A Trainer is made with the initial D, W and b; each step() draws samples, codes them,
// differentiates the task loss through the codes and updates. Results depend on the samples and the
// options alone, not on the number of threads; a run that goes on from a checkpoint gives the same
// bits as one that was never stopped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyperatom/coding/coder.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/gradient.hpp"
#include "hyperatom/learn/loss.hpp"
#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/optimizer.hpp"
#include "hyperatom/learn/samples.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom {

/// How well D, W and b do on a set of samples.
struct Score {
  double loss = 0;      ///< mean
  double accuracy = 0;  ///< share of samples whose true class has the highest score
};

/// What one step did, for an observer.
struct StepReport {
  Index step = 0;                   ///< t = 1, 2, ...
  Index steps = 0;                  ///< T
  Index epoch = 0;                  ///< 1, 2, ...
  Score batch;                      ///< before the update
  double active = 0;                ///< mean number of active atoms
  double gap = 0;                   ///< worst duality gap, relative to the objective
  Index unconverged = 0;            ///< codes whose gap did not meet the tolerance
  double rate = 0;                  ///< learning rate of D
  std::optional<Score> validation;  ///< on the last step of an epoch, if pixels were held out
};

/// Everything that a run needs to go on.
struct Checkpoint {
  TrainOptions options;
  std::string fingerprint;  ///< of the samples it was made with
  Index step = 0;
  Parameters parameters;
  Moments moments;
  std::vector<Index> atom_classes;
  std::vector<WarmStart> warm;  ///< of every sample
  Parameters best;              ///< by validation
  Score best_score;
  Index best_epoch = 0;  ///< 0: none yet
};

class Trainer {
 public:
  /// Draws the atoms, improves them without labels if asked to, solves for W and b. `samples` must
  /// outlive it. `go_on` is asked after every step without labels; false ends these early.
  Trainer(const Samples& samples, const TrainOptions& options,
          const std::function<bool()>& go_on = {});
  /// Algorithm 1 from a given D and W. `atom_classes` says what class each atom stands for.
  Trainer(const Samples& samples, const TrainOptions& options, Parameters initial,
          std::vector<Index> atom_classes);
  /// Goes on where the checkpoint was taken. Throws DataError if it was made with other samples.
  Trainer(const Samples& samples, Checkpoint checkpoint);

  /// One step on the samples whose turn it is.
  StepReport step();
  /// One step of Algorithm 1 on the given samples.
  StepReport step(std::span<const Index> batch);
  /// Steps until the end; stops earlier when validation stops improving or the observer returns
  /// false.
  void run(const std::function<bool(const StepReport&)>& observer = {});
  bool finished() const;

  /// The parameters now, those of the best epoch by validation, and the state to go on from.
  const Parameters& parameters() const { return state_.parameters; }
  const Parameters& best() const;
  const Checkpoint& checkpoint() const { return state_; }
  /// A model of the best parameters. What the trainer does not know is left to fill in: normaliser,
  /// wavelengths, and what the classes are called.
  Model model() const;
  /// T.
  Index steps() const { return options().epochs * steps_per_epoch(); }

  /// Mean loss and accuracy of the present parameters.
  Score score(std::span<const Index> which);
  std::span<const Index> training() const { return training_; }
  std::span<const Index> held_out() const { return held_out_; }

 private:
  using CodeVisitor =
      std::function<void(Index i, const Matrix& X, const Coder&, const SparseCode&)>;

  void prepare(const TrainOptions& options_given);
  void begin(Parameters initial, std::vector<Index> atom_classes);
  void improve_without_labels(const std::function<bool()>& go_on);
  void solve_for_weights();
  void refit_weights();
  void validate_epoch(StepReport& report);
  Index steps_per_epoch() const;
  std::vector<Index> draw(Index t);
  void code_windows(std::span<const Index> batch, const CodeVisitor& visit);
  Matrix centre_codes(std::span<const Index> which);
  const TrainOptions& options() const { return state_.options; }

  const Samples& samples_;
  std::unique_ptr<const Kernel> kernel_;
  std::unique_ptr<const Loss> loss_;
  RateSchedule rate_;
  std::vector<Index> training_, held_out_;
  std::vector<Index> order_;  // of training_, in the pass order_epoch_
  Index order_epoch_ = -1;
  std::vector<double> weights_;  // of every sample; mean 1 over training_
  Checkpoint state_;
};

}  // namespace hyperatom
