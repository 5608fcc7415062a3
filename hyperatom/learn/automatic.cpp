#include "hyperatom/learn/automatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/random.hpp"
#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/trainer.hpp"

namespace hyperatom {
namespace {

constexpr double held_out = 0.25;
constexpr Index seeds = 2;
constexpr int smallest_power = -1, largest_power = 4;

/// Passes that see about `seen` samples.
Index passes(const Samples& samples, double seen, Index least, Index most) {
  const double exact = seen / static_cast<double>(samples.size());
  return std::clamp(static_cast<Index>(std::lround(std::min(exact, 1e6))), least, most);
}

struct Trial {
  double sigma = 0;
  Score score;  ///< on held-out samples, mean over the seeds
};

/// A short training with this sigma. Nothing is held out of a set too small: then the score is 0.
Score held_out_score(const Samples& samples, TrainOptions options, std::uint64_t seed) {
  options.validation = held_out;
  options.patience = options.epochs = passes(samples, 6000, 4, 60);
  options.seed = seed;
  Trainer trainer(samples, options);
  if (trainer.held_out().empty()) return {};
  while (!trainer.finished()) trainer.step();
  return trainer.score(trainer.held_out());
}

/// Better first.
bool better(const Trial& a, const Trial& b) {
  if (a.score.accuracy != b.score.accuracy) return a.score.accuracy > b.score.accuracy;
  return a.score.loss < b.score.loss;
}

Spec gaussian(double sigma) { return {"gaussian", {{"sigma", sigma}}}; }

class Chooser {
 public:
  Chooser(const Samples& samples, const std::set<std::string>& given, TrainOptions& options,
          const TrialProgress& progress)
      : samples_(samples), given_(given), options_(options), progress_(progress) {}

  std::vector<Choice> run() {
    validate(samples_);
    const bool wants_sigma = !given_.contains("kernel") || options_.kernel == Spec{"gaussian", {}};
    const double median = wants_sigma ? median_squared_distance(samples_, options_.seed) : 0;
    // Any kernel has to do until sigma is known; k(x, x) = 1 for every Gaussian.
    if (wants_sigma) options_.kernel = gaussian(median > 0 ? rounded(median) : 1);
    choose_lengths();
    choose_lambda();
    choose("epochs", options_.epochs, passes(samples_, 60000, 30, 300),
           fmt::format("sees about 60,000 samples; there are {}", samples_.size()));
    if (wants_sigma) choose_sigma(median);
    return std::move(choices_);
  }

 private:
  template <class Value>
  void choose(const std::string& name, Value& field, Value value, const std::string& reason) {
    if (given_.contains(name)) return;
    field = value;
    choices_.push_back({name, fmt::format("{}", value), reason});
  }

  void choose_lengths() {
    Vector lengths(samples_.size());
    for (Index i = 0; i < samples_.size(); ++i) lengths[i] = samples_.centre(i).norm();
    const double longest = lengths.maxCoeff(), mean = lengths.mean();
    // Pixels of length 1 leave both at their defaults, but for rounding.
    choose("ball", options_.ball, longest > 0 && std::abs(longest - 1) > 1e-6 ? longest : 1.0,
           "length of the longest training pixel");
    choose("rho", options_.rho, rounded(3e-4 * (mean > 0 ? mean : 1.0)),
           "3e-4 times the mean length of a training pixel");
    if (options_.rho > 0)
      choose("weight-rate", options_.weight_rate, rounded(9e-3 / options_.rho),
             "the classifier, which knows no length, keeps its rate of 0.009");
  }

  void choose_lambda() {
    const auto S = static_cast<double>(samples_.window());
    Matrix centres(samples_.bands(), samples_.size());
    for (Index i = 0; i < samples_.size(); ++i) centres.col(i) = samples_.centre(i);
    const double own = make_kernel(options_.kernel)->diagonal(centres).mean();
    choose("lambda1", options_.lambda1, rounded(0.04 * std::sqrt(S) * (own > 0 ? own : 1.0)),
           fmt::format("0.04 sqrt(S) times the mean of k(x, x); S = {}, mean = {:.3g}", S, own));
  }

  void choose_sigma(double median) {
    constexpr int powers = largest_power - smallest_power + 1;
    std::vector<Trial> trials;
    for (int q = smallest_power; median > 0 && q <= largest_power; ++q) {
      Trial trial{rounded(std::ldexp(median, q)), {}};
      TrainOptions options = options_;
      options.kernel = gaussian(trial.sigma);
      for (Index seed = 0; seed < seeds; ++seed) {
        const Score score =
            held_out_score(samples_, options, options_.seed + static_cast<std::uint64_t>(seed));
        trial.score.accuracy += score.accuracy / seeds;
        trial.score.loss += score.loss / seeds;
        const Index done = static_cast<Index>(trials.size()) * seeds + seed + 1;
        if (progress_ && !progress_(done, powers * seeds)) return;
      }
      trials.push_back(trial);
    }
    std::string reason = "the training pixels are all alike";
    if (!trials.empty()) {
      reason = "share of held-out training pixels classified rightly after a short training:";
      for (const Trial& trial : trials)
        reason += fmt::format(" sigma {} {:.1f} %,", trial.sigma, 100 * trial.score.accuracy);
      reason.back() = ' ';
      reason += fmt::format("(median squared distance {:.3g})", median);
      options_.kernel = gaussian(std::min_element(trials.begin(), trials.end(), better)->sigma);
    }
    choices_.push_back({"kernel", options_.kernel.to_string(), reason});
  }

  const Samples& samples_;
  const std::set<std::string>& given_;
  TrainOptions& options_;
  const TrialProgress& progress_;
  std::vector<Choice> choices_;
};

}  // namespace

double rounded(double value) { return std::stod(fmt::format("{:.3g}", value)); }

double median_squared_distance(const Samples& samples, std::uint64_t seed) {
  constexpr Index pairs = 5000;
  RandomStream random(seed, Purpose::validation, at(samples.classes));
  std::vector<double> distances;
  for (Index k = 0; k < pairs; ++k) {
    const Index i = random.below(samples.size()), j = random.below(samples.size());
    distances.push_back((samples.centre(i) - samples.centre(j)).squaredNorm());
  }
  const auto middle = distances.begin() + pairs / 2;
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

const std::set<std::string>& automatic_settings() {
  static const std::set<std::string> names = {"ball",    "epochs", "kernel",
                                              "lambda1", "rho",    "weight-rate"};
  return names;
}

std::vector<Choice> choose_settings(const Samples& samples, const std::set<std::string>& given,
                                    TrainOptions& options, const TrialProgress& progress) {
  return Chooser(samples, given, options, progress).run();
}

}  // namespace hyperatom
