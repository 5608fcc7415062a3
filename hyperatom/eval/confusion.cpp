#include "hyperatom/eval/confusion.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

double share(Index part, Index whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double Confusion::overall() const { return share(right(), total()); }

double Confusion::average() const {
  double sum = 0;
  Index present = 0;
  for (const ClassScore& score : per_class()) {
    if (score.truth == 0) continue;
    sum += score.producers;
    ++present;
  }
  return present == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : sum / static_cast<double>(present);
}

double Confusion::kappa() const {
  const auto n = static_cast<double>(total());
  double expected = 0;
  for (Index c = 0; c < classes(); ++c)
    expected += static_cast<double>(counts_.row(c).sum()) *
                static_cast<double>(counts_.col(c).sum()) / (n * n);
  return (overall() - expected) / (1 - expected);
}

Interval Confusion::overall_interval() const {
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(total()), p = overall();
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {centre - half, centre + half};
}

std::vector<ClassScore> Confusion::per_class() const {
  std::vector<ClassScore> scores;
  for (Index c = 0; c < classes(); ++c) {
    ClassScore score;
    score.truth = counts_.row(c).sum();
    score.predicted = counts_.col(c).sum();
    score.producers = share(counts_(c, c), score.truth);
    score.users = share(counts_(c, c), score.predicted);
    score.f1 = share(2 * counts_(c, c), score.truth + score.predicted);
    scores.push_back(score);
  }
  return scores;
}

Confusion compare(const Labels& map, const Labels& truth, const std::vector<Index>& pixels) {
  if (map.rows != truth.rows || map.cols != truth.cols)
    throw DataError(fmt::format("the map is {} x {} pixels, the labels {} x {}", map.rows, map.cols,
                                truth.rows, truth.cols));
  Confusion confusion(std::max(map.classes(), truth.classes()));
  for (const Index i : pixels)
    if (truth.id(i) > 0) confusion.add(truth.id(i), map.id(i));
  if (confusion.total() == 0) throw DataError("there is no labelled pixel to compare");
  return confusion;
}

}  // namespace hyperatom
