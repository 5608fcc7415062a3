#include "hyperatom/eval/confusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

double share(Index part, Index whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

constexpr double z = 1.959963984540054;  // 95 % of a normal distribution lie within z deviations

Interval around(double value, double variance, double low, double high) {
  const double half = z * std::sqrt(std::max(0.0, variance));
  return {std::max(low, value - half), std::min(high, value + half)};
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
  const double n = static_cast<double>(total()), p = overall();
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {centre - half, centre + half};
}

Interval Confusion::average_interval() const {
  double variance = 0;
  Index present = 0;
  for (const ClassScore& score : per_class()) {
    if (score.truth == 0) continue;
    variance += score.producers * (1 - score.producers) / static_cast<double>(score.truth);
    ++present;
  }
  const auto n = static_cast<double>(present);
  return around(average(), variance / (n * n), 0, 1);
}

Interval Confusion::kappa_interval() const {
  const auto n = static_cast<double>(total());
  const Matrix p = counts_.cast<double>() / n;
  Vector truth = Vector::Zero(p.cols());  // no truth is "not classified"
  truth.head(p.rows()) = p.rowwise().sum();
  const Vector map = p.colwise().sum();
  const double agreed = overall(), chance = truth.dot(map);
  double with_diagonal = 0, with_all = 0;
  for (Index t = 0; t < p.rows(); ++t) {
    with_diagonal += p(t, t) * (truth[t] + map[t]);
    for (Index m = 0; m < p.cols(); ++m) {
      const double weight = truth[m] + map[t];
      with_all += p(t, m) * weight * weight;
    }
  }
  const double wrong = 1 - agreed, rest = 1 - chance;
  const double variance =
      (agreed * wrong / (rest * rest) +
       2 * wrong * (2 * agreed * chance - with_diagonal) / (rest * rest * rest) +
       wrong * wrong * (with_all - 4 * chance * chance) / (rest * rest * rest * rest)) /
      n;
  return around(kappa(), variance, -1, 1);
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
