#include "hyperatom/eval/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/learn/trainer.hpp"
#include "hyperatom/predict/sample_prediction.hpp"

namespace hyperatom {
namespace {

using Family = Method::Family;
using Clock = std::chrono::steady_clock;

constexpr Index survivors = 3;                          // one of so many goes on
constexpr double samples_seen[] = {2000, 4000, 16000};  // by a training in each round
constexpr double single_pixels = 4;                     // times as many of them: they cost little
constexpr Index most_rounds = std::size(samples_seen);

/// A dictionary that goes on in the next round.
struct Learned {
  Index round = -1;
  Parameters parameters;
  std::vector<Index> atom_classes;
};

/// Trials that are made together, on one fold.
struct Job {
  std::vector<Index> candidates;
  Index fold = 0;
};

class Tuner {
 public:
  Tuner(const Method& method, const std::vector<Candidate>& candidates, const SamplesOf& samples,
        Index cols, const TuneOptions& options, const std::vector<Trial>& known,
        const TuneHooks& hooks)
      : method_(method),
        candidates_(candidates),
        samples_(samples),
        options_(options),
        hooks_(hooks),
        known_(known),
        folds_(make_folds(samples(candidates.at(0).window), cols, options.folds)),
        learned_(candidates.size(), std::vector<Learned>(folds_.size())) {
    // All windows have the same centres, so that the folds are those of any.
    for (const Candidate& candidate : candidates) samples(candidate.window);
    const auto count = static_cast<Index>(candidates.size());
    rounds_ = 1;
    if (method.family == Family::sdl)
      while (rounds_ < most_rounds && going_on(count, rounds_) > 1) ++rounds_;
    for (Index r = 0; r < rounds_; ++r) trials_ += going_on(count, r) * folds();
  }

  Tuning run() {
    std::vector<Index> alive(candidates_.size());
    std::iota(alive.begin(), alive.end(), Index{0});
    Tuning tuning;
    tuning.rounds = rounds_;
    std::vector<Standing> out;
    for (Index round = 0; round < rounds_; ++round) {
      std::vector<Standing> standings = judge(alive, round);
      if (stopped()) return tuning;
      const Index next = round + 1 < rounds_
                             ? going_on(static_cast<Index>(candidates_.size()), round + 1)
                             : static_cast<Index>(standings.size());
      out.insert(out.begin(), standings.begin() + next, standings.end());
      standings.resize(at(next));
      alive.clear();
      for (const Standing& standing : standings) alive.push_back(standing.candidate);
      std::sort(alive.begin(), alive.end());
      if (round + 1 == rounds_) out.insert(out.begin(), standings.begin(), standings.end());
    }
    tuning.standings = std::move(out);
    tuning.finished = true;
    return tuning;
  }

 private:
  static Index going_on(Index candidates, Index round) {
    for (Index r = 0; r < round; ++r) candidates = (candidates + survivors - 1) / survivors;
    return candidates;
  }

  Index folds() const { return static_cast<Index>(folds_.size()); }

  bool stopped() const { return hooks_.keep_going && !hooks_.keep_going(); }

  /// Best first; of equals the one that was listed first.
  std::vector<Standing> judge(const std::vector<Index>& alive, Index round) {
    const std::vector<Job> jobs = jobs_of(alive);
    std::vector<std::vector<Trial>> results(jobs.size());
    const ThreadLimit limit(static_cast<int>(options_.jobs));
    parallel_for(static_cast<Index>(jobs.size()), [&](Index j, Index) {
      const ThreadLimit one(1);
      results[at(j)] = trials_of(jobs[at(j)], round);
    });
    if (stopped()) return {};
    std::vector<Standing> standings;
    for (const Index c : alive) {
      Tally sum;
      for (const auto& trials : results)
        for (const Trial& trial : trials)
          if (trial.candidate == c) sum.add(trial.tally);
      standings.push_back({c, round, sum.overall(), sum.average(), sum.balanced()});
    }
    std::stable_sort(standings.begin(), standings.end(),
                     [](const Standing& a, const Standing& b) { return a.balanced > b.balanced; });
    return standings;
  }

  /// One per candidate and fold; candidates on a path of lambda1 share one.
  std::vector<Job> jobs_of(const std::vector<Index>& alive) const {
    std::vector<Job> jobs;
    for (Index fold = 0; fold < folds(); ++fold) {
      const size_t first = jobs.size();
      for (const Index c : alive) {
        const auto same =
            std::find_if(jobs.begin() + static_cast<std::ptrdiff_t>(first), jobs.end(),
                         [&](const Job& job) { return on_one_path(job.candidates[0], c); });
        if (same != jobs.end())
          same->candidates.push_back(c);
        else
          jobs.push_back({{c}, fold});
      }
    }
    for (Job& job : jobs)
      std::stable_sort(job.candidates.begin(), job.candidates.end(), [&](Index a, Index b) {
        return candidates_[at(a)].options.lambda1 > candidates_[at(b)].options.lambda1;
      });
    return jobs;
  }

  bool on_one_path(Index a, Index b) const {
    if (method_.family != Family::src) return false;
    const Candidate &x = candidates_[at(a)], &y = candidates_[at(b)];
    return x.window == y.window && x.options.kernel == y.options.kernel &&
           x.options.lambda2 == y.options.lambda2 && x.options.tolerance == y.options.tolerance;
  }

  /// The trials of a job: as they are known, or made now.
  std::vector<Trial> trials_of(const Job& job, Index round) {
    std::vector<Trial> trials;
    for (const Index c : job.candidates) {
      trials.push_back({c, round, job.fold, {}, 0});
      const auto found = std::find_if(known_.begin(), known_.end(), [&](const Trial& trial) {
        return trial.same_as(trials.back());
      });
      if (found != known_.end()) trials.back() = *found;
    }
    const bool all = std::all_of(trials.begin(), trials.end(),
                                 [](const Trial& trial) { return !trial.tally.total.empty(); });
    if (!all) {
      if (stopped()) return {};
      const auto start = Clock::now();
      make_trials(trials);
      if (stopped()) return {};
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      for (Trial& trial : trials) trial.seconds = seconds / static_cast<double>(trials.size());
    }
    const std::lock_guard lock(mutex_);
    for (const Trial& trial : trials) {
      ++done_;
      if (!all && hooks_.made) hooks_.made(trial);
    }
    if (hooks_.progress) hooks_.progress(done_, trials_);
    return trials;
  }

  void make_trials(std::vector<Trial>& trials) {
    const Fold& fold = folds_[at(trials[0].fold)];
    const Candidate& first = candidates_[at(trials[0].candidate)];
    const Samples& samples = samples_(first.window).samples;
    const Samples training = subset(samples, fold.training);
    std::vector<Model> path;
    for (const Trial& trial : trials) {
      const Candidate& candidate = candidates_[at(trial.candidate)];
      path.push_back(method_.family == Family::sdl
                         ? learn(training, candidate, trial)
                         : fit(method_, training, candidate.options, hooks_.keep_going));
      path.back().class_ids.resize(at(samples.classes));
    }
    if (stopped()) return;
    const auto predicted = predict_samples(path, samples, fold.held_out);
    for (size_t i = 0; i < trials.size(); ++i)
      trials[i].tally = tally(samples, fold.held_out, predicted[i]);
  }

  /// Passes that see so many samples; a whole training has no fewer.
  static Index passes(const Samples& samples, const TrainOptions& options, double seen) {
    const double exact = std::ceil(seen / static_cast<double>(samples.size()));
    return std::min(options.epochs, std::max<Index>(1, static_cast<Index>(exact)));
  }

  /// The training of this round, after those of the rounds before, which may have to be done again
  /// by one who goes on after a stop.
  Model learn(const Samples& training, const Candidate& candidate, const Trial& trial) {
    Learned& learned = learned_[at(trial.candidate)][at(trial.fold)];
    std::optional<Model> model;
    for (Index round = learned.round + 1; round <= trial.round && !stopped(); ++round) {
      TrainOptions options = candidate.options;
      options.validation = 0;
      options.epochs = passes(training, options,
                              samples_seen[round] * (training.window() == 1 ? single_pixels : 1));
      Trainer trainer = learned.round < 0
                            ? Trainer(training, options)
                            : Trainer(training, options, learned.parameters, learned.atom_classes);
      trainer.run([&](const StepReport&) { return !stopped(); });
      if (stopped()) break;
      learned = {round, trainer.parameters(), trainer.checkpoint().atom_classes};
      model = trainer.model();
    }
    return model ? std::move(*model) : Model{};
  }

  const Method& method_;
  const std::vector<Candidate>& candidates_;
  const SamplesOf& samples_;
  const TuneOptions& options_;
  const TuneHooks& hooks_;
  const std::vector<Trial>& known_;
  const std::vector<Fold> folds_;
  std::vector<std::vector<Learned>> learned_;  // of every candidate and fold
  Index rounds_ = 0, trials_ = 0, done_ = 0;
  std::mutex mutex_;
};

}  // namespace

Tuning tune(const Method& method, const std::vector<Candidate>& candidates,
            const SamplesOf& samples, Index cols, const TuneOptions& options,
            const std::vector<Trial>& known, const TuneHooks& hooks) {
  if (candidates.empty()) throw OptionError("there is nothing to try: the grid is empty");
  return Tuner(method, candidates, samples, cols, options, known, hooks).run();
}

}  // namespace hyperatom
