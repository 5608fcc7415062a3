// Methods side by side: the mean and the spread of repeated runs, with the paper's figures beside
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hyperatom/base/types.hpp"

namespace hyperatom {

/// One method on one split.
struct Cell {
  std::string method;
  Index repeat = 0;    ///< which split or seed, from 1
  double overall = 0;  ///< shares
  double average = 0;
  double kappa = 0;
  double leakage = 0;
  double tune_seconds = 0;  ///< of one thread
  double train_seconds = 0;
  double classify_seconds = 0;
  Index atoms = 0;  ///< or support vectors
  Index window = 1;
  std::string settings;  ///< what was chosen, in words
};

/// Over the repeats.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< of the sample; 0 when there is one

  static Spread of(const std::vector<double>& values);
};

struct MethodSummary {
  std::string method;
  Index repeats = 0;
  Spread overall, average, kappa, leakage, tune_seconds, train_seconds, classify_seconds, atoms;
};

/// In the order of the paper's tables; methods without a cell are left out.
std::vector<MethodSummary> summarize(const std::vector<Cell>& cells);

/// A table of the paper: overall and average accuracy in per cent.
struct PaperTable {
  struct Row {
    const char* method;
    double overall, average;
  };
  const char* scene;  ///< "indian-pines", "pavia-university"
  const char* title;
  Index rows, cols, bands;  ///< of the scene
  std::vector<Row> figures;

  const Row& row(const std::string& method) const;
};

const std::vector<PaperTable>& paper_tables();
/// The paper's table of a scene of that size; nothing for other scenes.
const PaperTable* paper_table(Index rows, Index cols, Index bands);
/// The one with that name. Throws OptionError.
const PaperTable& paper_table(const std::string& scene);

/// `paper` may be null. A method that is below the paper's figure is marked.
std::string to_markdown(const std::vector<MethodSummary>& methods, const PaperTable* paper);
std::string to_csv(const std::vector<MethodSummary>& methods, const PaperTable* paper);
std::string to_latex(const std::vector<MethodSummary>& methods, const PaperTable* paper);
/// One line per method and repeat.
std::string to_csv(const std::vector<Cell>& cells);

}  // namespace hyperatom
