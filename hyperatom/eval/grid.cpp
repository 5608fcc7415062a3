#include "hyperatom/eval/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/automatic.hpp"

namespace hyperatom {
namespace {

using Family = Method::Family;

/// The factor of "2x"; nothing for a plain value.
std::optional<double> factor_of(const std::string& value) {
  if (!value.ends_with('x') || value.size() < 2) return {};
  char* end = nullptr;
  const double factor = std::strtod(value.c_str(), &end);
  if (end != value.c_str() + value.size() - 1 || !(factor > 0) || !std::isfinite(factor)) return {};
  return factor;
}

Field field_named(TrainOptions& options, const std::string& name) {
  for (const Field& field : options.fields())
    if (field.name == name) return field;
  throw OptionError(fmt::format("unknown option '{}'", name));
}

/// The value as one would type it.
std::string typed(const Field& field) {
  if (auto* const* number = std::get_if<double*>(&field.value)) return fmt::format("{}", **number);
  std::string text = field.text();
  std::erase(text, '"');
  return text;
}

double number_of(const std::string& option, const std::string& text) {
  double value = 0;
  set(Field{.name = option, .value = &value, .lowest = 0, .above_lowest = true}, text);
  return value;
}

/// The combinations of a grid.
std::vector<std::vector<std::pair<std::string, std::string>>> points_of(const Grid& grid) {
  std::vector<std::vector<std::pair<std::string, std::string>>> points = {{}};
  for (const Axis& axis : grid) {
    std::vector<std::vector<std::pair<std::string, std::string>>> longer;
    for (const auto& point : points)
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().emplace_back(axis.option, value);
      }
    points = std::move(longer);
  }
  return points;
}

/// The options that a grid may have.
std::set<std::string> tunable(const Method& method) {
  std::set<std::string> names = method.options();
  names.erase("seed");
  names.erase("kernel");  // specs have commas; `sigma` stands for it
  if (method.joint) names.insert("window");
  if (method.kernel) names.insert("sigma");
  return names;
}

class CandidateMaker {
 public:
  CandidateMaker(const Method& method, Index window, const TrainOptions& base,
                 const std::set<std::string>& given, const SamplesOf& samples)
      : method_(method), window_(window), base_(base), given_(given), samples_(samples) {}

  Candidate make(std::vector<std::pair<std::string, std::string>> point) {
    Candidate candidate{std::move(point), window_, base_};
    for (const auto& [option, value] : candidate.point)
      if (option == "window")
        set(Field{.name = "window", .value = &candidate.window, .lowest = 1, .highest = 10000},
            value);
    const Samples& samples = samples_(candidate.window).samples;
    std::set<std::string> fixed = given_;
    if (!method_.kernel) candidate.options.kernel = {"linear", {}};
    fixed.insert("kernel");
    for (const auto& [option, value] : candidate.point) {
      if (option == "sigma")
        candidate.options.kernel = {"gaussian", {{"sigma", sigma_of(value, samples)}}};
      else if (option != "window" && !factor_of(value)) {
        set(field_named(candidate.options, option), value);
        fixed.insert(option);
      }
    }
    if (candidate.options.kernel == Spec{"gaussian", {}} ||
        (method_.kernel && candidate.options.kernel.name == "linear"))
      candidate.options.kernel = {"gaussian", {{"sigma", sigma_of("2x", samples)}}};
    choose_settings(samples, fixed, candidate.options);
    for (const auto& [option, value] : candidate.point)
      if (const auto factor = factor_of(value); factor && option != "sigma" && option != "window")
        multiply(candidate.options, option, *factor);
    validate(candidate.options);
    method_.expect_fits(candidate.window, candidate.options.kernel);
    return candidate;
  }

 private:
  double sigma_of(const std::string& value, const Samples& samples) {
    const auto factor = factor_of(value);
    if (!factor) return number_of("sigma", value);
    auto [found, is_new] = medians_.try_emplace(samples.window(), 0);
    if (is_new) found->second = median_squared_distance(samples, base_.seed);
    return found->second > 0 ? rounded(*factor * found->second) : *factor;
  }

  static void multiply(TrainOptions& options, const std::string& option, double factor) {
    const Field field = field_named(options, option);
    if (auto* const* number = std::get_if<double*>(&field.value))
      **number = rounded(factor * **number);
    else if (auto* const* count = std::get_if<Index*>(&field.value))
      **count = std::max<Index>(
          1, static_cast<Index>(std::lround(factor * static_cast<double>(**count))));
    else
      throw OptionError(
          fmt::format("grid {}: '{}x' is a multiple, and {} is no number", option, factor, option));
  }

  const Method& method_;
  Index window_;
  const TrainOptions& base_;
  const std::set<std::string>& given_;
  const SamplesOf& samples_;
  std::map<Index, double> medians_;
};

}  // namespace

Axis Axis::parse(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw OptionError(
        fmt::format("grid must be like lambda1=0.01,0.1 or sigma=0.5x,1x,2x, not '{}'", text));
  Axis axis{text.substr(0, equals), {}};
  for (size_t begin = equals + 1; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    axis.values.push_back(text.substr(begin, end - begin));
    if (axis.values.back().empty())
      throw OptionError(fmt::format("grid '{}' has an empty value", text));
    begin = end + 1;
  }
  return axis;
}

Grid default_grid(const Method& method) {
  Grid grid;
  if (method.family == Family::svm) {
    if (method.kernel) grid.push_back({"sigma", {"0.125x", "0.5x", "2x", "8x", "32x"}});
    grid.push_back({"cost", {"10", "100", "1000", "10000", "100000", "1000000"}});
  } else if (method.family == Family::src) {
    if (method.joint) grid.push_back({"window", {"9", "25", "49"}});
    if (method.kernel) grid.push_back({"sigma", {"0.5x", "1x", "2x", "4x", "8x"}});
    if (method.joint)
      grid.push_back({"lambda1", {"4x", "2x", "1x", "0.5x"}});
    else
      grid.push_back({"lambda1", {"4x", "1x", "0.25x", "0.06x", "0.015x"}});
  } else if (method.joint && method.kernel) {
    grid.push_back({"window", {"9", "25", "49", "121"}});
    grid.push_back({"sigma", {"2.5x", "6x", "16x"}});
    grid.push_back({"lambda1", {"1x", "0.5x"}});
    grid.push_back({"rho", {"3x"}});
  } else if (method.joint) {
    grid.push_back({"window", {"9", "25", "49", "121"}});
    grid.push_back({"lambda1", {"2x", "1x", "0.4x"}});
    grid.push_back({"rho", {"3x"}});
  } else {
    if (method.kernel) {
      grid.push_back({"sigma", {"1x", "4x", "16x"}});
      grid.push_back({"lambda1", {"1x", "0.3x", "0.1x"}});
    } else {
      grid.push_back({"lambda1", {"3x", "1x", "0.3x"}});
    }
    grid.push_back({"nu", {"1e-4", "1e-5"}});
    grid.push_back({"loss", {"squared", "softmax"}});
  }
  if (method.family == Family::sdl) {
    grid.push_back({"balance", {"0.5"}});  // as candidates are ranked
    grid.push_back({"refit", {"true"}});
  }
  return grid;
}

Grid paper_grid(const Method& method) {
  const Axis sigma = {"sigma", {"0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"}};
  Grid grid;
  if (method.family == Family::svm) {
    if (method.kernel)  // gamma = 1 / sigma = 2^-5, 2^-3, ... 2^5
      grid.push_back({"sigma", {"32", "8", "2", "0.5", "0.125", "0.03125"}});
    grid.push_back(
        {"cost",
         {"0.03125", "0.125", "0.5", "2", "8", "32", "128", "512", "2048", "8192", "32768"}});
    return grid;
  }
  if (method.kernel) grid.push_back(sigma);
  if (method.family == Family::sdl)
    grid.push_back({"nu", {"1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1"}});
  grid.push_back({"lambda1", {"0.1", "0.01", "0.001"}});
  return grid;
}

bool can_tune(const Method& method, const std::string& option) {
  return tunable(method).contains(option);
}

Grid with_axes(Grid grid, const Grid& own, const Method& method) {
  const std::set<std::string> known = tunable(method);
  for (const Axis& axis : own) {
    if (!known.contains(axis.option))
      throw OptionError(fmt::format("grid {}: {} has no such option; it has {}", axis.option,
                                    method.name,
                                    join(std::vector<std::string>(known.begin(), known.end()))));
    const auto same = std::ranges::find(grid, axis.option, &Axis::option);
    if (same != grid.end())
      *same = axis;
    else
      grid.push_back(axis);
  }
  return grid;
}

std::vector<std::pair<std::string, std::string>> Candidate::chosen() const {
  std::vector<std::pair<std::string, std::string>> result;
  TrainOptions copy = options;
  for (const auto& [option, value] : point) {
    if (option == "window")
      result.emplace_back(option, std::to_string(window));
    else if (option == "sigma")
      result.emplace_back("kernel", options.kernel.to_string());
    else
      result.emplace_back(option, typed(field_named(copy, option)));
  }
  return result;
}

std::string Candidate::flags() const {
  std::string text;
  TrainOptions defaults;
  for (const auto& [option, value] : chosen()) {
    if (value == "true" || value == "false") {
      const bool usual = *std::get<bool*>(field_named(defaults, option).value);
      if ((value == "true") != usual) text += fmt::format(" --{}{}", usual ? "no-" : "", option);
      continue;
    }
    const char* quote = value.find('(') == std::string::npos ? "" : "'";
    text += fmt::format(" --{} {}{}{}", option, quote, value, quote);
  }
  return text;
}

std::vector<Candidate> make_candidates(const Method& method, const Grid& grid, Index window,
                                       const TrainOptions& base, const std::set<std::string>& given,
                                       const SamplesOf& samples) {
  CandidateMaker maker(method, window, base, given, samples);
  std::vector<Candidate> candidates;
  for (auto& point : points_of(grid)) candidates.push_back(maker.make(std::move(point)));
  return candidates;
}

}  // namespace hyperatom
