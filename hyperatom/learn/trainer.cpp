#include "hyperatom/learn/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/parallel.hpp"
#include "hyperatom/base/random.hpp"
#include "hyperatom/learn/initialisation.hpp"
#include "hyperatom/learn/linear_classifier.hpp"

namespace hyperatom {
namespace {

/// Holds out a share of each class, but never the last sample of one.
void hold_out(const Samples& samples, double share, std::uint64_t seed,
              std::vector<Index>& training, std::vector<Index>& held_out) {
  for (Index c = 0; c < samples.classes; ++c) {
    std::vector<Index> members;
    for (Index i = 0; i < samples.size(); ++i)
      if (samples.label(i) == c) members.push_back(i);
    const auto count = static_cast<double>(members.size());
    const auto order = RandomStream(seed, Purpose::validation, static_cast<std::uint64_t>(c))
                           .permutation(static_cast<Index>(members.size()));
    const auto held = static_cast<size_t>(std::min(std::round(share * count), count - 1));
    for (size_t k = 0; k < order.size(); ++k)
      (k < held ? held_out : training).push_back(members[at(order[k])]);
  }
  std::sort(training.begin(), training.end());
  std::sort(held_out.begin(), held_out.end());
}

/// Weights with mean 1 over `training`. Those of a class of n samples add up to a multiple of
/// n^(1 - balance), or would, if the samples had no weights of their own.
std::vector<double> sample_weights(const Samples& samples, std::span<const Index> training,
                                   double balance) {
  std::vector<double> count(at(samples.classes), 0.0), weights;
  for (const Index i : training) ++count[at(samples.label(i))];
  double sum = 0;
  for (const double n : count) sum += std::pow(n, 1 - balance);
  const double scale = static_cast<double>(training.size()) / sum;
  for (const Index label : samples.labels)
    weights.push_back(balance == 0 ? 1 : scale * std::pow(count[at(label)], -balance));
  if (samples.weights.empty()) return weights;
  sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= samples.weights[i];
  for (const Index i : training) sum += weights[at(i)];
  if (!(sum > 0)) throw DataError("training samples: all have weight 0");
  for (double& weight : weights) weight *= static_cast<double>(training.size()) / sum;
  return weights;
}

Parameters zeros_like(const Parameters& p) {
  return {Matrix::Zero(p.D.rows(), p.D.cols()), Matrix::Zero(p.W.rows(), p.W.cols()),
          Vector::Zero(p.b.size())};
}

}  // namespace

Trainer::Trainer(const Samples& samples, const TrainOptions& options,
                 const std::function<bool()>& go_on)
    : samples_(samples) {
  prepare(options);
  InitialAtoms atoms = draw_atoms(samples, training_, options.atoms_per_class, options.seed);
  begin({atoms.D, Matrix::Zero(samples.classes, atoms.D.cols()), Vector::Zero(samples.classes)},
        std::move(atoms.classes));
  project_atoms(state_.parameters.D, options.ball);
  if (options.init == "unsupervised") improve_without_labels(go_on);
  solve_for_weights();
}

Trainer::Trainer(const Samples& samples, const TrainOptions& options, Parameters initial,
                 std::vector<Index> atom_classes)
    : samples_(samples) {
  const Parameters& p = initial;
  if (p.D.rows() != samples.bands() || p.W.rows() != samples.classes || p.W.cols() != p.D.cols() ||
      p.b.size() != samples.classes || static_cast<Index>(atom_classes.size()) != p.D.cols())
    throw OptionError(
        fmt::format("initial parameters: D is {} x {}, W {} x {}, b {}, atom classes {}; expected "
                    "{} bands, {} classes",
                    p.D.rows(), p.D.cols(), p.W.rows(), p.W.cols(), p.b.size(), atom_classes.size(),
                    samples.bands(), samples.classes));
  prepare(options);
  begin(std::move(initial), std::move(atom_classes));
}

Trainer::Trainer(const Samples& samples, Checkpoint checkpoint) : samples_(samples) {
  prepare(checkpoint.options);
  if (checkpoint.fingerprint != state_.fingerprint)
    throw DataError("the checkpoint was made with other training samples than these");
  state_ = std::move(checkpoint);
}

/// What follows from the samples and the options.
void Trainer::prepare(const TrainOptions& options_given) {
  validate(options_given);
  validate(samples_);
  state_.options = options_given;
  state_.fingerprint = fingerprint(samples_);
  kernel_ = make_kernel(options().kernel);
  loss_ = make_loss(options().loss);
  hold_out(samples_, options().validation, options().seed, training_, held_out_);
  weights_ = sample_weights(samples_, training_, options().balance);
  const auto all = static_cast<double>(steps());
  rate_ = {
      .rule = options().optimizer == "sgd" ? RateSchedule::Rule::sgd : RateSchedule::Rule::adam,
      .rho = options().rho,
      .t0 = options().t0 > 0 ? options().t0 : std::max(1.0, all / 10),
      .steps = all};
}

/// Step 0, at the given parameters.
void Trainer::begin(Parameters initial, std::vector<Index> atom_classes) {
  state_.parameters = std::move(initial);
  state_.atom_classes = std::move(atom_classes);
  state_.warm.resize(at(samples_.size()));
  state_.moments = {zeros_like(state_.parameters), zeros_like(state_.parameters)};
}

Index Trainer::steps_per_epoch() const {
  return (static_cast<Index>(training_.size()) + options().batch - 1) / options().batch;
}

/// The samples of step t: drawn at random for sgd, as Algorithm 1 says; the next of a shuffled pass
/// for adam.
std::vector<Index> Trainer::draw(Index t) {
  const auto n = static_cast<Index>(training_.size());
  std::vector<Index> batch;
  if (rate_.rule == RateSchedule::Rule::sgd) {
    RandomStream stream(options().seed, Purpose::sample, static_cast<std::uint64_t>(t));
    for (Index i = 0; i < options().batch; ++i) batch.push_back(training_[at(stream.below(n))]);
    return batch;
  }
  const Index epoch = (t - 1) / steps_per_epoch();
  const Index first = (t - 1) % steps_per_epoch() * options().batch;
  if (order_epoch_ != epoch) {
    order_ = RandomStream(options().seed, Purpose::order, static_cast<std::uint64_t>(epoch))
                 .permutation(n);
    order_epoch_ = epoch;
  }
  for (Index i = first; i < std::min(first + options().batch, n); ++i)
    batch.push_back(training_[at(order_[at(i)])]);
  return batch;
}

/// Codes the windows of `batch` over the present dictionary, each from where it ended last time,
/// and hands every code to `visit`, which runs on many threads and may write only to what belongs
/// to its i.
void Trainer::code_windows(std::span<const Index> batch, const CodeVisitor& visit) {
  const Matrix& D = state_.parameters.D;
  Matrix K(D.cols(), D.cols());
  parallel_for_blocks(D.cols(), 8, [&](Index first, Index count) {
    kernel_->gram(D, D.middleCols(first, count), K.middleCols(first, count));
  });
  const Coder coder(K, options().coding());
  std::vector<WindowCoder> workers;
  for (Index slot = 0; slot < parallel_slots(); ++slot) workers.emplace_back(coder);
  std::vector<WarmStart> ends(batch.size());
  parallel_for(static_cast<Index>(batch.size()), [&](Index i, Index slot) {
    const Index sample = batch[at(i)];
    const Matrix X = samples_.window_pixels(sample);
    const Matrix B = kernel_->gram(D, X);
    WindowCoder& worker = workers[at(slot)];
    worker.start(state_.warm[at(sample)]);
    const SparseCode& code = worker.encode(MatrixColumns(B).view(), kernel_->diagonal(X).sum());
    ends[at(i)] = warm_start(code);
    visit(i, X, coder, code);
  });
  for (size_t i = 0; i < batch.size(); ++i) state_.warm[at(batch[i])] = std::move(ends[i]);
}

StepReport Trainer::step() { return step(draw(state_.step + 1)); }

StepReport Trainer::step(std::span<const Index> batch) {
  Parameters& theta = state_.parameters;
  const Index t = ++state_.step;

  std::vector<SampleGradient> parts(batch.size());
  code_windows(batch, [&](Index i, const Matrix& X, const Coder& coder,
                          const SparseCode& code) {  // steps 2-4
    const Index y = samples_.label(batch[at(i)]);
    parts[at(i)] =
        task_gradient(*kernel_, coder, *loss_, theta, X, y, code);  // steps 5-7, brackets of 9
  });
  std::vector<double> weights(batch.size());
  for (size_t i = 0; i < batch.size(); ++i)
    weights[i] = weights_[at(batch[i])] / static_cast<double>(batch.size());
  Parameters gradient = sum_gradients(*kernel_, theta, parts, weights);
  gradient.W += options().nu * theta.W;
  if (!options().intercept) gradient.b.setZero();

  const double rate = rate_(t);               // step 8
  if (rate_.rule == RateSchedule::Rule::sgd)  // step 9
    sgd_update(theta, gradient, rate, options().weight_rate);
  else
    adam_update(theta, state_.moments, gradient, rate, options().weight_rate, t);
  project_atoms(theta.D, options().ball);
  if (!theta.D.allFinite() || !theta.W.allFinite())
    throw NumericalError(
        fmt::format("training diverged at step {}; try a smaller rho than {}", t, options().rho));

  StepReport report;
  report.step = t;
  report.steps = steps();
  report.epoch = (t - 1) / steps_per_epoch() + 1;
  report.rate = rate;
  const auto count = static_cast<double>(parts.size());
  for (const SampleGradient& part : parts) {
    report.batch.loss += part.loss / count;
    report.batch.accuracy += part.correct;
    report.active += static_cast<double>(part.active.size()) / count;
    report.gap = std::max(report.gap, part.gap);
    report.unconverged += !part.converged;
  }
  report.batch.accuracy /= count;
  if (t == steps() && options().refit) refit_weights();
  if (t % steps_per_epoch() == 0 && !held_out_.empty()) validate_epoch(report);
  return report;
}

void Trainer::validate_epoch(StepReport& report) {
  const Score now = score(held_out_);
  report.validation = now;
  const Score& best = state_.best_score;
  const bool better = state_.best_epoch == 0 || now.accuracy > best.accuracy ||
                      (now.accuracy == best.accuracy && now.loss < best.loss);
  if (!better) return;
  state_.best = state_.parameters;
  state_.best_score = now;
  state_.best_epoch = report.epoch;
}

void Trainer::run(const std::function<bool(const StepReport&)>& observer) {
  while (!finished()) {
    const StepReport report = step();
    if (observer && !observer(report)) return;
  }
}

bool Trainer::finished() const {
  if (state_.step >= steps()) return true;
  const Index epochs = state_.step / steps_per_epoch();
  return state_.best_epoch > 0 && epochs - state_.best_epoch >= options().patience;
}

const Parameters& Trainer::best() const {
  return state_.best_epoch > 0 ? state_.best : state_.parameters;
}

Model Trainer::model() const {
  Model model;
  model.method = fmt::format("sdl-{}-{}", samples_.window() == 1 ? "l1" : "l12",
                             options().kernel.name == "linear" ? "l" : "k");
  model.kernel = options().kernel;
  model.loss = options().loss;
  model.coding = options().coding();
  model.window = samples_.window();
  model.dictionary = best().D;
  model.weights = best().W;
  model.bias = best().b;
  model.atom_classes = state_.atom_classes;
  return model;
}

Score Trainer::score(std::span<const Index> which) {
  const Matrix scores = (state_.parameters.W * centre_codes(which)).colwise() + state_.parameters.b;
  Score result;
  for (Index i = 0; i < scores.cols(); ++i) {
    const Index y = samples_.label(which[at(i)]);
    Index best = 0;
    scores.col(i).maxCoeff(&best);
    result.loss += loss_->value(scores.col(i), y);
    result.accuracy += best == y;
  }
  const auto count = static_cast<double>(which.size());
  return {result.loss / count, result.accuracy / count};
}

/// d x n: the codes of the centre pixels.
Matrix Trainer::centre_codes(std::span<const Index> which) {
  Matrix codes = Matrix::Zero(state_.parameters.atoms(), static_cast<Index>(which.size()));
  code_windows(which, [&](Index i, const Matrix&, const Coder&, const SparseCode& code) {
    for (size_t k = 0; k < code.active.size(); ++k)
      codes(code.active[k], i) = code.A(static_cast<Index>(k), 0);
  });
  return codes;
}

/// The paper's initialisation: stochastic gradient on the reconstruction of unlabelled windows.
void Trainer::improve_without_labels(const std::function<bool()>& go_on) {
  Parameters& theta = state_.parameters;
  Moments moments{zeros_like(theta), zeros_like(theta)};
  const Index all = options().init_epochs * steps_per_epoch();
  RateSchedule rate = rate_;
  rate.steps = static_cast<double>(all);
  rate.t0 = std::max(1.0, rate.steps / 10);
  for (Index t = 1; t <= all; ++t) {
    const std::vector<Index> batch = draw(t);
    std::vector<SampleGradient> parts(batch.size());
    code_windows(batch, [&](Index i, const Matrix& X, const Coder&, const SparseCode& code) {
      parts[at(i)] = reconstruction_gradient(*kernel_, theta, X, code);
    });
    const std::vector<double> weights(batch.size(), 1 / static_cast<double>(batch.size()));
    const Parameters gradient = sum_gradients(*kernel_, theta, parts, weights);
    if (rate.rule == RateSchedule::Rule::sgd)
      sgd_update(theta, gradient, rate(t), 0);
    else
      adam_update(theta, moments, gradient, rate(t), 0, t);
    project_atoms(theta.D, options().ball);
    if (go_on && !go_on()) return;
  }
}

/// W and b for the present dictionary, by the exact convex solve.
void Trainer::refit_weights() {
  const Matrix codes = centre_codes(training_);
  std::vector<Index> labels;
  std::vector<double> weights;
  for (const Index i : training_) {
    labels.push_back(samples_.label(i));
    weights.push_back(weights_[at(i)]);
  }
  LinearClassifier fit =
      fit_linear_classifier(codes, labels, samples_.classes, weights, *loss_,
                            {.nu = options().nu, .intercept = options().intercept});
  state_.parameters.W = std::move(fit.W);
  state_.parameters.b = std::move(fit.b);
}

/// Step 0: those of the initial dictionary.
void Trainer::solve_for_weights() {
  refit_weights();
  begin(std::move(state_.parameters), std::move(state_.atom_classes));
}

}  // namespace hyperatom
