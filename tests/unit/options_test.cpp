#include "hyperatom/base/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom {
namespace {

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const OptionError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Options, JsonRoundTripKeepsEveryField) {
  TrainOptions options;
  options.kernel = Spec::parse("polynomial(degree=2,offset=0.1)");
  options.loss = Spec::parse("softmax");
  options.lambda1 = 0.1 + 0.2;  // not a short decimal
  options.init = "unsupervised";
  options.batch = 7;
  options.intercept = false;
  options.seed = 18446744073709551615u;
  TrainOptions read;
  from_json(to_json(options.fields()), read.fields());
  EXPECT_EQ(read.kernel, options.kernel);
  EXPECT_EQ(read.loss, options.loss);
  EXPECT_EQ(read.lambda1, options.lambda1);
  EXPECT_EQ(read.init, options.init);
  EXPECT_EQ(read.batch, options.batch);
  EXPECT_EQ(read.intercept, options.intercept);
  EXPECT_EQ(read.seed, options.seed);
  EXPECT_EQ(to_json(read.fields()), to_json(options.fields()));
}

TEST(Options, AbsentKeysKeepTheirDefault) {
  TrainOptions read;
  from_json(R"({"nu": 0.5})", read.fields());
  EXPECT_EQ(read.nu, 0.5);
  EXPECT_EQ(read.epochs, TrainOptions().epochs);
}

TEST(Options, ErrorsNameFieldRangeAndValue) {
  const auto reading = [](const char* text) {
    return message([&] {
      TrainOptions read;
      from_json(text, read.fields());
    });
  };
  EXPECT_EQ(reading(R"({"lambda1": 0})"), "lambda1 must be greater than 0, not 0.0");
  EXPECT_EQ(reading(R"({"lambda2": -1})"), "lambda2 must be at least 0, not -1.0");
  EXPECT_EQ(reading(R"({"validation": 1})"),
            "validation must be at least 0 and at most 0.9, not 1.0");
  EXPECT_EQ(reading(R"({"batch": 0})"), "batch must be at least 1 and at most 1000000, not 0");
  EXPECT_EQ(reading(R"({"batch": 1.5})"), "batch must be a whole number, not 1.5");
  EXPECT_EQ(reading(R"({"seed": -1})"), "seed must be a whole number, 0 or greater, not -1");
  EXPECT_EQ(reading(R"({"optimizer": "lbfgs"})"),
            "optimizer must be one of adam, sgd, not \"lbfgs\"");
  EXPECT_EQ(reading(R"({"intercept": 1})"), "intercept must be true or false, not 1");
  EXPECT_EQ(reading(R"({"lambda": 1})"), "unknown option 'lambda'");
  EXPECT_EQ(reading("[1]"), "the options are not a JSON object: [1]");
  EXPECT_EQ(reading("{"), "the options are not a JSON object: {");
}

TEST(Options, NotANumberIsRefused) {
  TrainOptions options;
  options.rho = std::nan("");
  EXPECT_EQ(message([&] { validate(options); }), "rho must be at least 0, not null");
}

TEST(Options, SpecsAreChecked) {
  TrainOptions options;
  options.kernel = Spec::parse("gaussian(sigma=-1)");
  EXPECT_NE(message([&] { validate(options); }).find("sigma must be greater than 0"),
            std::string::npos);
}

TEST(Options, EveryFieldIsDescribedOnce) {
  TrainOptions options;
  std::vector<std::string> names;
  for (const Field& field : options.fields()) {
    EXPECT_FALSE(field.help.empty()) << field.name;
    EXPECT_EQ(std::count(names.begin(), names.end(), field.name), 0) << field.name;
    names.push_back(field.name);
  }
}

TEST(Options, SetReadsWhatAUserTypes) {
  TrainOptions options;
  const auto set_field = [&](const std::string& name, const std::string& text) {
    for (const Field& field : options.fields())
      if (field.name == name) set(field, text);
  };
  set_field("lambda1", "1e-3");
  set_field("epochs", "17");
  set_field("seed", "18446744073709551615");
  set_field("intercept", "false");
  set_field("init", "unsupervised");
  set_field("kernel", "polynomial(degree=2, offset=1)");
  EXPECT_EQ(options.lambda1, 1e-3);
  EXPECT_EQ(options.epochs, 17);
  EXPECT_EQ(options.seed, 18446744073709551615u);
  EXPECT_FALSE(options.intercept);
  EXPECT_EQ(options.init, "unsupervised");
  EXPECT_EQ(options.kernel, Spec::parse("polynomial(degree=2,offset=1)"));
  const auto setting = [&](const char* name, const char* text) {
    return message([&] { set_field(name, text); });
  };
  EXPECT_EQ(setting("lambda1", "0.1x"), "lambda1 must be a number, not '0.1x'");
  EXPECT_EQ(setting("lambda1", ""), "lambda1 must be a number, not ''");
  EXPECT_EQ(setting("epochs", "1.5"), "epochs must be a whole number, not '1.5'");
  EXPECT_EQ(setting("epochs", "99999999999999999999"),
            "epochs must be a whole number, not '99999999999999999999'");
  EXPECT_EQ(setting("seed", "-1"), "seed must be a whole number, 0 or greater, not '-1'");
  EXPECT_EQ(setting("intercept", "yes"), "intercept must be true or false, not 'yes'");
}

TEST(Options, NothingThatIsNotFinite) {
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    TrainOptions options;
    options.rho = value;
    EXPECT_NE(message([&] { validate(options); }), "nothing was thrown");
  }
}

}  // namespace
}  // namespace hyperatom
