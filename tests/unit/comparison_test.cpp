// Tables of methods side by side.
#include "hyperatom/eval/comparison.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "hyperatom/base/error.hpp"
#include "hyperatom/baselines/method.hpp"
#include "tests/support/real_data.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;

Cell cell(const char* method, Index repeat, double overall, double average) {
  Cell result;
  result.method = method;
  result.repeat = repeat;
  result.overall = overall;
  result.average = average;
  result.kappa = overall - 0.1;
  result.leakage = 0.5;
  result.train_seconds = 2 * static_cast<double>(repeat);
  result.atoms = 80;
  result.settings = "window 9";
  return result;
}

const std::vector<Cell> cells = {cell("sdl-l12-k", 1, 0.9, 0.8), cell("svm-l", 1, 0.5, 0.4),
                                 cell("sdl-l12-k", 2, 0.94, 0.8), cell("sdl-l12-k", 3, 0.98, 0.8)};

TEST(Comparison, MeanAndDeviationAreThoseOfTheSample) {
  const auto summaries = summarize(cells);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].method, "svm-l");  // the paper's order
  EXPECT_EQ(summaries[0].repeats, 1);
  EXPECT_EQ(summaries[0].overall.deviation, 0);
  EXPECT_NEAR(summaries[1].overall.mean, 0.94, 1e-15);
  EXPECT_NEAR(summaries[1].overall.deviation, 0.04, 1e-15);  // sqrt((0.04^2 + 0.04^2) / 2)
  EXPECT_NEAR(summaries[1].average.deviation, 0, 1e-15);
  EXPECT_NEAR(summaries[1].train_seconds.mean, 4, 1e-15);
}

TEST(Comparison, MarkdownMarksWhatIsBelowThePaper) {
  const auto summaries = summarize(cells);
  const std::string text = to_markdown(summaries, &paper_table("indian-pines"));
  EXPECT_PRED2(contains, text,
               "| svm-l | 50.00 | 40.00 | 0.4000 | 64.94 (above ours) | 56.53 (above ours) |");
  EXPECT_PRED2(
      contains, text,
      "| sdl-l12-k | 94.00 ± 4.00 | 80.00 ± 0.00 | 0.8400 ± 0.0400 | 87.56 | 81.25 (above ours) |");
  const std::string plain = to_markdown(summaries, nullptr);
  EXPECT_EQ(plain.find("paper"), std::string::npos);
  // All lines of a table have as many columns.
  for (const std::string& table : {text, plain}) {
    std::istringstream lines(table);
    std::string line;
    std::set<std::ptrdiff_t> columns;
    while (std::getline(lines, line)) columns.insert(std::count(line.begin(), line.end(), '|'));
    EXPECT_EQ(columns.size(), 1u) << table;
  }
}

TEST(Comparison, CsvHasAsManyColumnsInEveryLine) {
  const auto summaries = summarize(cells);
  for (const std::string& table : {to_csv(summaries, nullptr), to_csv(cells),
                                   to_csv(summaries, &paper_table("pavia-university"))}) {
    std::istringstream lines(table);
    std::string line;
    std::set<std::ptrdiff_t> columns;
    while (std::getline(lines, line)) columns.insert(std::count(line.begin(), line.end(), ','));
    EXPECT_EQ(columns.size(), 1u) << table;
  }
  EXPECT_PRED2(contains, to_csv(cells), "sdl-l12-k,2,0.94,0.8,");
}

TEST(Comparison, LatexNamesMethodsAsThePaperDoes) {
  const std::string text = to_latex(summarize(cells), &paper_table("indian-pines"));
  EXPECT_PRED2(contains, text, "SDL-$\\ell_{12}$-k & 94.00 $\\pm$ 4.00 & 80.00 $\\pm$ 0.00");
  EXPECT_PRED2(contains, text, "SVM-l & 50.00 & 40.00 & 0.4000 & 64.94 & 56.53 \\\\\n");
}

TEST(PaperTable, IsFoundByTheSceneOrByName) {
  EXPECT_STREQ(paper_table(145, 145, 200)->scene, "indian-pines");
  EXPECT_STREQ(paper_table(610, 340, 103)->scene, "pavia-university");
  EXPECT_EQ(paper_table(610, 340, 102), nullptr);
  EXPECT_THROW(paper_table("salinas"), OptionError);
  for (const PaperTable& table : paper_tables()) {
    EXPECT_EQ(table.figures.size(), methods().size());
    for (const Method& method : methods()) EXPECT_NO_THROW(table.row(method.name));
    EXPECT_THROW(table.row("knn"), OptionError);
  }
}

/// The figures as the paper's own source has them, in the order of its columns.
TEST(PaperTable, HasThePapersFigures) {
  const auto path = test::real_data("../paper.tex");
  HYPERATOM_NEEDS(path);
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  const std::string source = text.str();
  size_t place = 0;
  for (const PaperTable& table : paper_tables())
    for (const bool overall : {true, false}) {
      place = source.find(overall ? "\nOA&" : "\nAA&", place);
      ASSERT_NE(place, std::string::npos);
      const std::string line = source.substr(place + 1, source.find("\\\\", place) - place);
      std::vector<double> found;
      for (size_t i = 0; i < line.size(); ++i)
        if (line[i] == '.') found.push_back(std::stod(line.substr(i - 2, 5)));  // "87.56"
      ASSERT_EQ(found.size(), 10u) << line;
      for (size_t i = 0; i < 10; ++i)
        EXPECT_EQ(overall ? table.figures[i].overall : table.figures[i].average, found[i]);
      ++place;
    }
}

}  // namespace
}  // namespace hyperatom
