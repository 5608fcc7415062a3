// What a grid says, and what it means for given samples.
#include "hyperatom/eval/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hyperatom/base/error.hpp"
#include "tests/support/small_scene.hpp"
#include "tests/support/thrown.hpp"

namespace hyperatom {
namespace {

using test::contains;
using test::small_scene;
using test::thrown;

/// Of a small scene, with windows of any size up to 9.
SamplesOf samples_of(std::uint64_t seed) {
  auto single = std::make_shared<SceneSamples>(), joint = std::make_shared<SceneSamples>();
  single->samples = small_scene(seed, 14, 1);
  joint->samples = small_scene(seed, 14, 9);
  return [single, joint](Index window) -> const SceneSamples& {
    return window == 1 ? *single : *joint;
  };
}

TEST(Grid, AxesAreParsed) {
  const Axis axis = Axis::parse("lambda1=0.5x,1,2e-3");
  EXPECT_EQ(axis.option, "lambda1");
  EXPECT_EQ(axis.values, (std::vector<std::string>{"0.5x", "1", "2e-3"}));
  for (const char* text : {"", "=", "lambda1", "lambda1=", "=3"})
    EXPECT_PRED2(contains, thrown<OptionError>([&] { Axis::parse(text); }), "grid must be like");
  for (const char* text : {"a=,", "a=1,,2", "a=1,"})
    EXPECT_PRED2(contains, thrown<OptionError>([&] { Axis::parse(text); }), "has an empty value");
}

TEST(Grid, PaperGridHasThePapersSizes) {
  const auto size = [](const char* method) {
    size_t product = 1;
    for (const Axis& axis : paper_grid(find_method(method))) product *= axis.values.size();
    return product;
  };
  EXPECT_EQ(size("sdl-l12-k"), 3u * 8 * 10);
  EXPECT_EQ(size("sdl-l1-l"), 3u * 8);
  EXPECT_EQ(size("src-l12-k"), 3u * 10);
  EXPECT_EQ(size("src-l1-l"), 3u);
  EXPECT_GT(size("svm-k"), size("svm-l"));
}

TEST(Grid, EveryCandidateOfEveryMethodIsValid) {
  const SamplesOf samples = samples_of(3);
  for (const Method& method : methods())
    for (Grid grid : {default_grid(method), paper_grid(method)}) {
      if (method.joint) grid = with_axes(grid, {{"window", {"9"}}}, method);
      const auto candidates = make_candidates(method, grid, method.joint ? 9 : 1, {}, {}, samples);
      size_t product = 1;
      for (const Axis& axis : grid) product *= axis.values.size();
      EXPECT_EQ(candidates.size(), product);
      for (const Candidate& candidate : candidates) {
        EXPECT_NO_THROW(validate(candidate.options)) << method.name;
        EXPECT_NO_THROW(method.expect_fits(candidate.window, candidate.options.kernel));
        EXPECT_EQ(candidate.chosen().size(), grid.size());
      }
    }
}

TEST(Grid, FactorsAreTimesWhatTheDataSuggest) {
  const SamplesOf samples = samples_of(4);
  const Samples& s = samples(9).samples;
  // The median by all pairs: that of random pairs is close.
  std::vector<double> distances;
  for (Index i = 0; i < s.size(); ++i)
    for (Index j = 0; j < s.size(); ++j)
      distances.push_back((s.centre(i) - s.centre(j)).squaredNorm());
  std::sort(distances.begin(), distances.end());
  const double median = distances[distances.size() / 2];

  const Grid grid = {Axis::parse("sigma=0.5x,2x,0.3"), Axis::parse("lambda1=1x,3x,0.25"),
                     Axis::parse("epochs=1x,0.5x,7")};
  const auto candidates = make_candidates(find_method("sdl-l12-k"), grid, 9, {}, {}, samples);
  ASSERT_EQ(candidates.size(), 27u);
  const auto sigma = [](const Candidate& c) { return c.options.kernel.parameters[0].second; };
  EXPECT_NEAR(sigma(candidates[0]), 0.5 * median, 0.1 * median);
  EXPECT_NEAR(sigma(candidates[9]), 2 * median, 0.4 * median);
  EXPECT_EQ(sigma(candidates[18]), 0.3);
  EXPECT_NEAR(candidates[0].options.lambda1, 0.04 * 3, 1e-9);  // k(x, x) = 1, S = 9
  EXPECT_NEAR(candidates[3].options.lambda1, 0.04 * 9, 1e-9);
  EXPECT_EQ(candidates[6].options.lambda1, 0.25);
  EXPECT_EQ(candidates[2].options.epochs, 7);
  EXPECT_NEAR(static_cast<double>(candidates[1].options.epochs),
              0.5 * static_cast<double>(candidates[0].options.epochs), 1);
  EXPECT_EQ(candidates[6].chosen()[1], (std::pair<std::string, std::string>("lambda1", "0.25")));
}

TEST(Grid, GivenOptionsStay) {
  TrainOptions base;
  base.lambda1 = 0.7;
  base.epochs = 3;
  const auto candidates = make_candidates(find_method("sdl-l1-l"), {Axis::parse("nu=1e-3")}, 1,
                                          base, {"lambda1", "epochs"}, samples_of(5));
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].options.lambda1, 0.7);
  EXPECT_EQ(candidates[0].options.epochs, 3);
  EXPECT_EQ(candidates[0].options.nu, 1e-3);
  EXPECT_EQ(candidates[0].options.kernel.name, "linear");
}

TEST(Grid, OwnAxesReplaceAndAreChecked) {
  const Method& method = find_method("sdl-l12-k");
  const Grid grid = with_axes(default_grid(method),
                              {Axis::parse("window=9"), Axis::parse("batch=10,20")}, method);
  EXPECT_EQ(grid[0].option, "window");
  EXPECT_EQ(grid[0].values, std::vector<std::string>{"9"});
  EXPECT_EQ(grid.back().option, "batch");
  for (const auto& [name, option] : {std::pair{"sdl-l12-k", "cost"},
                                     {"sdl-l12-k", "seed"},
                                     {"svm-l", "sigma"},
                                     {"svm-k", "window"},
                                     {"src-l1-k", "epochs"},
                                     {"sdl-l1-k", "window"}})
    EXPECT_PRED2(contains, thrown<OptionError>([&] {
                   with_axes({}, {{option, {"1"}}}, find_method(name));
                 }),
                 std::string("grid ") + option + ": " + name + " has no such option");
}

TEST(Grid, ValuesOutOfRangeAreRefused) {
  const SamplesOf samples = samples_of(6);
  for (const char* text : {"lambda1=-1", "lambda1=many", "sigma=0", "window=0", "window=2.5",
                           "epochs=-3", "loss=hinge", "sigma=-2x", "lambda1=x"})
    EXPECT_THROW(make_candidates(find_method("sdl-l12-k"), {Axis::parse(text)}, 9, {}, {}, samples),
                 OptionError)
        << text;
}

TEST(Methods, AreThePapersTen) {
  EXPECT_EQ(method_names(), (std::vector<std::string>{"svm-l", "svm-k", "src-l1-l", "src-l1-k",
                                                      "src-l12-l", "src-l12-k", "sdl-l1-l",
                                                      "sdl-l1-k", "sdl-l12-l", "sdl-l12-k"}));
  EXPECT_PRED2(contains, thrown<OptionError>([] { find_method("sdl-l2-k"); }),
               "unknown method 'sdl-l2-k'; known: svm-l, svm-k");
  TrainOptions all;
  std::set<std::string> known;
  for (const Field& field : all.fields()) known.insert(field.name);
  for (const Method& method : methods()) {
    for (const std::string& option : method.options())
      EXPECT_TRUE(known.contains(option)) << option;
    EXPECT_THROW(
        method.expect_fits(method.joint ? 1 : 9, {method.kernel ? "gaussian" : "linear", {}}),
        OptionError);
    EXPECT_THROW(
        method.expect_fits(method.joint ? 9 : 1, {method.kernel ? "linear" : "gaussian", {}}),
        OptionError);
  }
}

}  // namespace
}  // namespace hyperatom
