#include "hyperatom/learn/train_options.hpp"

#include "hyperatom/kernel/kernel.hpp"
#include "hyperatom/learn/loss.hpp"

namespace hyperatom {

TrainOptions TrainOptions::paper() {
  TrainOptions options;
  options.init = "unsupervised";
  options.optimizer = "sgd";
  options.weight_rate = 1;
  options.batch = 1;
  options.intercept = false;
  return options;
}

Fields TrainOptions::fields() {
  return {
      {.name = "kernel", .value = &kernel, .help = "kernel of the feature space", .symbol = "k"},
      {.name = "loss",
       .value = &loss,
       .help = "what the classifier is trained for",
       .symbol = "l_su"},
      {.name = "lambda1",
       .value = &lambda1,
       .help = "weight of the joint sparsity",
       .symbol = "lambda_1",
       .lowest = 0,
       .above_lowest = true},
      {.name = "lambda2",
       .value = &lambda2,
       .help = "weight of the squared norm of the code",
       .symbol = "lambda_2",
       .lowest = 0},
      {.name = "tolerance",
       .value = &tolerance,
       .help = "largest duality gap of a code, relative to its objective",
       .lowest = 1e-12,
       .highest = 0.1},
      {.name = "nu",
       .value = &nu,
       .help = "weight of the squared norm of the classifier",
       .symbol = "nu",
       .lowest = 0},
      {.name = "cost",
       .value = &cost,
       .help = "svm: weight of the training errors",
       .symbol = "C",
       .lowest = 0,
       .above_lowest = true},
      {.name = "init",
       .value = &init,
       .help = "first dictionary: training pixels of each class, or those improved without labels",
       .choices = {"samples", "unsupervised"}},
      {.name = "atoms-per-class",
       .value = &atoms_per_class,
       .help = "atoms drawn per class (fewer where the class has fewer pixels)",
       .lowest = 1,
       .highest = 10000},
      {.name = "init-epochs",
       .value = &init_epochs,
       .help = "passes of the unsupervised initialisation",
       .lowest = 0,
       .highest = 1e6},
      {.name = "optimizer",
       .value = &optimizer,
       .help = "adam on shuffled passes, or the paper's stochastic gradient on random draws",
       .choices = {"adam", "sgd"}},
      {.name = "rho",
       .value = &rho,
       .help = "learning rate of the dictionary",
       .symbol = "rho",
       .lowest = 0},
      {.name = "weight-rate",
       .value = &weight_rate,
       .help = "learning rate of the classifier, as a multiple of the dictionary's",
       .lowest = 0},
      {.name = "t0",
       .value = &t0,
       .help = "sgd: steps before the rate decays; 0 takes a tenth of all steps",
       .symbol = "t_0",
       .lowest = 0},
      {.name = "epochs",
       .value = &epochs,
       .help = "passes through the training pixels",
       .lowest = 0,
       .highest = 1e6},
      {.name = "batch", .value = &batch, .help = "samples per step", .lowest = 1, .highest = 1e6},
      {.name = "ball",
       .value = &ball,
       .help = "radius of the ball that atoms are kept in",
       .lowest = 0,
       .above_lowest = true},
      {.name = "intercept", .value = &intercept, .help = "give the classifier an intercept"},
      {.name = "balance",
       .value = &balance,
       .help =
           "0: all pixels weigh alike; 1: all classes do; 0.5: classes by the root of their size",
       .lowest = 0,
       .highest = 1},
      {.name = "refit",
       .value = &refit,
       .help = "solve for the classifier of the learned dictionary exactly, after the last step"},
      {.name = "validation",
       .value = &validation,
       .help = "share of the training pixels held out to choose the best epoch",
       .lowest = 0,
       .highest = 0.9},
      {.name = "patience",
       .value = &patience,
       .help = "epochs without a better validation after which training stops",
       .lowest = 1,
       .highest = 1e6},
      {.name = "seed", .value = &seed, .help = "fixes everything random"},
  };
}

void validate(const TrainOptions& options) {
  TrainOptions copy = options;
  validate(copy.fields());
  make_kernel(options.kernel);
  make_loss(options.loss);
}

}  // namespace hyperatom
