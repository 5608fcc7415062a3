#include "hyperatom/base/spec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "hyperatom/base/error.hpp"

namespace hyperatom {
namespace {

// RapidCheck draws its seed from the clock unless told otherwise; it reads this when first used.
[[maybe_unused]] const int fixed_seed = setenv("RC_PARAMS", "seed=20240229 max_success=1000", 0);

rc::Gen<std::string> name_generator() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("abcdefghijklmnopqrstuvwxyz0123456789-_"))));
}

/// Any finite double, by its bits: subnormal, huge, negative zero.
rc::Gen<double> finite_generator() {
  return rc::gen::suchThat(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                        [](std::uint64_t bits) {
                                          // RapidCheck's integers are small at first: spread them.
                                          bits *= 0x9E3779B97F4A7C15;
                                          double value;
                                          std::memcpy(&value, &bits, sizeof value);
                                          return value;
                                        }),
                           [](double value) { return std::isfinite(value); });
}

std::string blanks() {
  return *rc::gen::resize(3,
                          rc::gen::container<std::string>(rc::gen::elementOf(std::string(" \t"))));
}

TEST(Spec, TextAndBack) {
  EXPECT_TRUE(rc::check("parse(to_string(spec)) == spec, whatever the blanks", [] {
    Spec spec{*name_generator(), {}};
    std::string spaced = blanks() + spec.name + blanks();
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
      spec.parameters.emplace_back(*name_generator() + std::to_string(i), *finite_generator());
      const auto& [key, value] = spec.parameters.back();
      char number[64];
      std::snprintf(number, sizeof number, "%.17g", value);
      spaced +=
          (i == 0 ? "(" : ",") + blanks() + key + blanks() + "=" + blanks() + number + blanks();
    }
    if (count > 0) spaced += ")" + blanks();
    const Spec again = Spec::parse(spec.to_string());
    RC_ASSERT(again == spec);
    for (size_t i = 0; i < spec.parameters.size(); ++i)
      RC_ASSERT(std::signbit(again.parameters[i].second) ==
                std::signbit(spec.parameters[i].second));
    RC_ASSERT(Spec::parse(spaced) == spec);
    RC_ASSERT(again.to_string() == spec.to_string());
  }));
}

TEST(Spec, ArbitraryTextIsParsedOrRefused) {
  EXPECT_TRUE(rc::check("no text does anything else", [] {
    const std::string text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("ab1(=,) .-+e\tA\xff\0n", 18)));
    try {
      const Spec spec = Spec::parse(text);
      RC_ASSERT(Spec::parse(spec.to_string()) == spec);
    } catch (const OptionError& e) {
      RC_ASSERT(std::string(e.what()).find("spec '") == 0);
    }
  }));
}

TEST(Spec, Examples) {
  EXPECT_EQ(Spec::parse("linear"), (Spec{"linear", {}}));
  EXPECT_EQ(Spec::parse("linear()"), (Spec{"linear", {}}));
  EXPECT_EQ(Spec::parse(" linear ( ) "), (Spec{"linear", {}}));
  EXPECT_EQ(Spec::parse("gaussian(sigma=0.05)"), (Spec{"gaussian", {{"sigma", 0.05}}}));
  EXPECT_EQ(Spec::parse("p(degree=3, offset=-1e-3)"),
            (Spec{"p", {{"degree", 3}, {"offset", -1e-3}}}));
  EXPECT_EQ((Spec{"gaussian", {{"sigma", 0.05}}}).to_string(), "gaussian(sigma=0.05)");
  EXPECT_EQ((Spec{"p", {{"degree", 3}, {"offset", 0.5}}}).to_string(), "p(degree=3,offset=0.5)");
  EXPECT_EQ((Spec{"linear", {}}).to_string(), "linear");
  EXPECT_NE(Spec::parse("p(a=1,b=2)"), Spec::parse("p(b=2,a=1)"));
}

struct Refused {
  const char* text;
  const char* expected;  // the end of the message, after "spec '...': "
};

TEST(Spec, ErrorsSayWhatWasExpectedWhereAndWhatWasFound) {
  const Refused cases[] = {
      {"",
       "expected a name of lower-case letters, digits, '-' or '_' at position 1, found nothing"},
      {"   ", "at position 4, found nothing"},
      {"Gaussian", "at position 1, found 'Gaussian'"},
      {"gaussian(", "expected a parameter name at position 10, found nothing"},
      {"gaussian(sigma", "expected '=' at position 15, found nothing"},
      {"gaussian(sigma:1)", "expected '=' at position 15, found ':1)'"},
      {"gaussian(sigma=", "expected a finite number at position 16, found nothing"},
      {"gaussian(sigma=x)", "expected a finite number at position 16, found 'x)'"},
      {"gaussian(sigma=nan)", "expected a finite number at position 16, found 'nan)'"},
      {"gaussian(sigma=inf)", "expected a finite number at position 16, found 'inf)'"},
      {"gaussian(sigma=-inf)", "expected a finite number at position 16, found '-inf)'"},
      {"gaussian(sigma=1e999)", "expected a finite number at position 16, found '1e999)'"},
      {"gaussian(sigma=+1)", "expected a finite number at position 16, found '+1)'"},
      {"gaussian(sigma=1", "expected ',' or ')' at position 17, found nothing"},
      {"gaussian(sigma=1 2)", "expected ',' or ')' at position 18, found '2)'"},
      {"gaussian(sigma=0x1)", "expected ',' or ')' at position 17, found 'x1)'"},
      {"gaussian(sigma=1,)", "expected a parameter name at position 18, found ')'"},
      {"gaussian(,sigma=1)", "expected a parameter name at position 10, found ',sigma=1)'"},
      {"gaussian(sigma=1))", "expected the end of the spec at position 18, found ')'"},
      {"gaussian sigma", "expected the end of the spec at position 10, found 'sigma'"},
      {"gaussian(sigma=1)x", "expected the end of the spec at position 18, found 'x'"},
      {"gaussian(sigma=1,sigma=2)", "parameter 'sigma' is given twice"},
  };
  for (const auto& [text, expected] : cases) {
    try {
      Spec::parse(text);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const OptionError& e) {
      const std::string message = e.what();
      EXPECT_EQ(message.find("spec '" + std::string(text) + "': "), 0u) << message;
      EXPECT_NE(message.find(expected), std::string::npos) << message;
    }
  }
}

TEST(SpecReader, ReadsRequiredAndOptionalParameters) {
  const Spec spec = Spec::parse("p(a=1,b=2)");
  SpecReader reader(spec);
  EXPECT_EQ(reader.require("a"), 1);
  EXPECT_EQ(reader.get("b", 7), 2);
  EXPECT_EQ(reader.get("c", 7), 7);
  EXPECT_NO_THROW(reader.finish());
  EXPECT_NO_THROW(reader.expect(true, "a", "anything"));
}

template <typename F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const OptionError& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

TEST(SpecReader, NamesWhatIsWrong) {
  const Spec spec = Spec::parse("p(a=1,b=2)");
  EXPECT_EQ(message_of([&] { SpecReader(spec).require("x"); }),
            "spec 'p(a=1,b=2)': parameter 'x' is missing");
  EXPECT_EQ(message_of([&] { SpecReader(spec).expect(false, "b", "less than 2"); }),
            "spec 'p(a=1,b=2)': b must be less than 2, not 2");
  EXPECT_EQ(message_of([&] { SpecReader(spec).finish(); }),
            "spec 'p(a=1,b=2)': unknown parameter 'a'; 'p' takes none");
  EXPECT_EQ(message_of([&] {
              SpecReader reader(spec);
              reader.get("a", 0);
              reader.get("c", 0);
              reader.finish();
            }),
            "spec 'p(a=1,b=2)': unknown parameter 'b'; known: a, c");
}

TEST(Join, ListsNames) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace hyperatom
