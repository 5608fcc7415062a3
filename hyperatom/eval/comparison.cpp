#include "hyperatom/eval/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/baselines/method.hpp"

namespace hyperatom {
namespace {

/// "98.21 ± 0.14", in per cent.
std::string percent(const Spread& share, Index repeats, const char* sign) {
  if (repeats < 2) return fmt::format("{:.2f}", 100 * share.mean);
  return fmt::format("{:.2f} {} {:.2f}", 100 * share.mean, sign, 100 * share.deviation);
}

std::string plain(const Spread& value, Index repeats, const char* sign) {
  if (!std::isfinite(value.mean)) return "-";  // kappa of a single class
  if (repeats < 2) return fmt::format("{:.4f}", value.mean);
  return fmt::format("{:.4f} {} {:.4f}", value.mean, sign, value.deviation);
}

std::string seconds(const Spread& time) {
  return fmt::format("{:.{}f}", time.mean, time.mean < 10 ? 2 : 0);
}

std::string csv(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

/// SDL-$\ell_{12}$-k of sdl-l12-k, as the paper writes it.
std::string latex_name(const std::string& method) {
  std::string name = method;
  std::transform(name.begin(), name.begin() + 3, name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [from, to] : {std::pair{"-l12-", "-$\\ell_{12}$-"}, {"-l1-", "-$\\ell_1$-"}})
    if (const size_t at = name.find(from); at != std::string::npos)
      name.replace(at, std::string(from).size(), to);
  return name;
}

bool below(double share, double paper) { return 100 * share < paper; }

}  // namespace

Spread Spread::of(const std::vector<double>& values) {
  Spread spread;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

std::vector<MethodSummary> summarize(const std::vector<Cell>& cells) {
  std::vector<MethodSummary> summaries;
  for (const Method& method : methods()) {
    const auto spread_of = [&](const auto& value) {
      std::vector<double> values;
      for (const Cell& cell : cells)
        if (cell.method == method.name) values.push_back(static_cast<double>(value(cell)));
      return Spread::of(values);
    };
    const auto repeats = std::ranges::count(cells, method.name, &Cell::method);
    if (repeats == 0) continue;
    summaries.push_back({method.name, repeats, spread_of([](const Cell& c) { return c.overall; }),
                         spread_of([](const Cell& c) { return c.average; }),
                         spread_of([](const Cell& c) { return c.kappa; }),
                         spread_of([](const Cell& c) { return c.leakage; }),
                         spread_of([](const Cell& c) { return c.tune_seconds; }),
                         spread_of([](const Cell& c) { return c.train_seconds; }),
                         spread_of([](const Cell& c) { return c.classify_seconds; }),
                         spread_of([](const Cell& c) { return c.atoms; })});
  }
  return summaries;
}

const PaperTable::Row& PaperTable::row(const std::string& method) const {
  const auto found =
      std::ranges::find_if(figures, [&](const Row& each) { return method == each.method; });
  if (found == figures.end())
    throw OptionError(fmt::format("the paper has no method '{}'", method));
  return *found;
}

const std::vector<PaperTable>& paper_tables() {
  static const std::vector<PaperTable> tables = {{"indian-pines",
                                                  "Table 1, Indian Pines",
                                                  145,
                                                  145,
                                                  200,
                                                  {{"svm-l", 64.94, 56.53},
                                                   {"svm-k", 75.78, 61.40},
                                                   {"src-l1-l", 71.88, 64.28},
                                                   {"src-l1-k", 74.83, 67.19},
                                                   {"src-l12-l", 76.41, 64.67},
                                                   {"src-l12-k", 77.41, 63.66},
                                                   {"sdl-l1-l", 81.43, 66.43},
                                                   {"sdl-l1-k", 83.48, 74.65},
                                                   {"sdl-l12-l", 84.14, 76.56},
                                                   {"sdl-l12-k", 87.56, 81.25}}},
                                                 {"pavia-university",
                                                  "Table 2, Pavia University",
                                                  610,
                                                  340,
                                                  103,
                                                  {{"svm-l", 61.84, 65.09},
                                                   {"svm-k", 62.43, 72.14},
                                                   {"src-l1-l", 66.51, 75.98},
                                                   {"src-l1-k", 74.05, 80.06},
                                                   {"src-l12-l", 83.86, 86.29},
                                                   {"src-l12-k", 82.67, 85.28},
                                                   {"sdl-l1-l", 69.30, 83.44},
                                                   {"sdl-l1-k", 81.25, 82.24},
                                                   {"sdl-l12-l", 84.48, 84.47},
                                                   {"sdl-l12-k", 86.07, 87.37}}}};
  return tables;
}

const PaperTable* paper_table(Index rows, Index cols, Index bands) {
  for (const PaperTable& table : paper_tables())
    if (table.rows == rows && table.cols == cols && table.bands == bands) return &table;
  return nullptr;
}

const PaperTable& paper_table(const std::string& scene) {
  for (const PaperTable& table : paper_tables())
    if (scene == table.scene) return table;
  throw OptionError(fmt::format("the paper has no scene '{}'", scene));
}

std::string to_markdown(const std::vector<MethodSummary>& methods, const PaperTable* paper) {
  std::string text = "| method | OA % | AA % | kappa | ";
  if (paper != nullptr) text += "paper OA % | paper AA % | ";
  text += "atoms | tuning s | training s | classifying s | leakage % |\n|---|";
  for (int i = 0; i < (paper != nullptr ? 10 : 8); ++i) text += "---:|";
  text += "\n";
  for (const MethodSummary& m : methods) {
    text += fmt::format("| {} | {} | {} | {} | ", m.method, percent(m.overall, m.repeats, "±"),
                        percent(m.average, m.repeats, "±"), plain(m.kappa, m.repeats, "±"));
    if (paper != nullptr) {
      const PaperTable::Row& row = paper->row(m.method);
      text += fmt::format("{:.2f}{} | {:.2f}{} | ", row.overall,
                          below(m.overall.mean, row.overall) ? " (above ours)" : "", row.average,
                          below(m.average.mean, row.average) ? " (above ours)" : "");
    }
    text +=
        fmt::format("{:.0f} | {} | {} | {} | {:.1f} |\n", m.atoms.mean, seconds(m.tune_seconds),
                    seconds(m.train_seconds), seconds(m.classify_seconds), 100 * m.leakage.mean);
  }
  return text;
}

std::string to_csv(const std::vector<MethodSummary>& methods, const PaperTable* paper) {
  std::string text =
      "method,repeats,overall,overall_deviation,average,average_deviation,kappa,kappa_deviation,"
      "paper_overall,paper_average,atoms,tune_seconds,train_seconds,classify_seconds,leakage\n";
  for (const MethodSummary& m : methods) {
    text += fmt::format("{},{},{},{},{},{},{},{},", m.method, m.repeats, m.overall.mean,
                        m.overall.deviation, m.average.mean, m.average.deviation, csv(m.kappa.mean),
                        csv(m.kappa.deviation));
    if (paper != nullptr)
      text += fmt::format("{},{},", paper->row(m.method).overall / 100,
                          paper->row(m.method).average / 100);
    else
      text += ",,";
    text += fmt::format("{},{},{},{},{}\n", m.atoms.mean, m.tune_seconds.mean, m.train_seconds.mean,
                        m.classify_seconds.mean, m.leakage.mean);
  }
  return text;
}

std::string to_latex(const std::vector<MethodSummary>& methods, const PaperTable* paper) {
  std::string text = "% needs \\usepackage{booktabs}\n\\begin{tabular}{l";
  text += paper != nullptr ? "rrrrr}\n\\toprule\n" : "rrr}\n\\toprule\n";
  text += "method & OA & AA & $\\kappa$";
  if (paper != nullptr) text += " & paper OA & paper AA";
  text += " \\\\\n\\midrule\n";
  for (const MethodSummary& m : methods) {
    text += fmt::format(
        "{} & {} & {} & {}", latex_name(m.method), percent(m.overall, m.repeats, "$\\pm$"),
        percent(m.average, m.repeats, "$\\pm$"), plain(m.kappa, m.repeats, "$\\pm$"));
    if (paper != nullptr)
      text += fmt::format(" & {:.2f} & {:.2f}", paper->row(m.method).overall,
                          paper->row(m.method).average);
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string to_csv(const std::vector<Cell>& cells) {
  std::string text =
      "method,repeat,overall,average,kappa,leakage,atoms,window,tune_seconds,train_seconds,"
      "classify_seconds,settings\n";
  for (const Cell& c : cells)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", c.method, c.repeat, c.overall,
                        c.average, csv(c.kappa), c.leakage, c.atoms, c.window, c.tune_seconds,
                        c.train_seconds, c.classify_seconds, c.settings);
  return text;
}

}  // namespace hyperatom
