// `hyperatom explain`: why a pixel has its class.
#include <fmt/format.h>

#include <algorithm>

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/base/error.hpp"
#include "hyperatom/learn/model_file.hpp"
#include "hyperatom/predict/classifier.hpp"

namespace hyperatom::cli {
namespace {

struct Pixel {
  Index row = 0, col = 0;
};

Pixel parse_pixel(const std::string& text) {
  const std::vector<Index> numbers = whole_numbers(text, ',');
  if (numbers.size() != 2)
    throw OptionError(fmt::format(
        "--pixel must be ROW,COLUMN, counted from 0 at the top left, for example 12,40, not '{}'",
        text));
  return {numbers[0], numbers[1]};
}

/// An atom's share in the code of a window.
struct Share {
  Index atom = 0;
  double weight = 0;  ///< for the pixel itself
  double norm = 0;    ///< over the window
};

std::vector<Share> shares(const SparseCode& code) {
  std::vector<Share> result;
  for (size_t i = 0; i < code.active.size(); ++i) {
    const auto row = static_cast<Index>(i);
    result.push_back({code.active[i], code.A(row, 0), code.A.row(row).norm()});
  }
  std::stable_sort(result.begin(), result.end(), [](const Share& a, const Share& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  return result;
}

/// An SVM decides without a code.
bool coded(const Model& model) { return model.rule() != Model::Rule::votes; }

class Explain final : public Verb {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "Shows the atoms that explain a pixel."; }
  std::string example() const override {
    return "hyperatom explain scene.bsq -m runs/crop --pixel 12,40";
  }

  void declare(Arguments& arguments) override {
    scene_.declare(arguments);
    arguments.option({.name = "model", .value = &model_, .help = "a run folder or a model file"},
                     'm', Arguments::Need::required);
    arguments.option(
        {.name = "pixel", .value = &pixel_, .help = "ROW,COLUMN, counted from 0 at the top left"},
        0, Arguments::Need::required);
  }

  Result run(const Common&, Console& console) override {
    const Pixel pixel = parse_pixel(pixel_);
    const Model model = load_model(model_path(model_));
    const auto source = scene_.open(console);
    const Explanation why = Classifier(model).explain(*source, pixel.row, pixel.col);
    return {to_json(model, pixel, why, source->info()), to_text(model, pixel, why)};
  }

 private:
  static Json to_json(const Model& model, const Pixel& pixel, const Explanation& why,
                      const SceneInfo& scene) {
    const auto best = static_cast<size_t>(why.class_index);
    Json json = {{"row", pixel.row},
                 {"col", pixel.col},
                 {"class", model.class_ids[best]},
                 {"name", model.class_names[best]},
                 {"confidence", why.confidence},
                 {"novelty", coded(model) ? Json(why.novelty) : Json(nullptr)},
                 {"gap", coded(model) ? Json(why.code.gap) : Json(nullptr)},
                 {"converged", coded(model) ? Json(why.code.converged) : Json(nullptr)},
                 {"scores", Json::array()},
                 {"atoms", Json::array()},
                 {"window", Json::array()},
                 {"spectrum", why.spectrum},
                 {"reconstruction", coded(model) ? Json(why.reconstruction) : Json(nullptr)}};
    for (size_t c = 0; c < model.class_ids.size(); ++c)
      json["scores"].push_back({{"class", model.class_ids[c]},
                                {"name", model.class_names[c]},
                                {"score", why.scores[static_cast<Index>(c)]}});
    for (const Share& share : shares(why.code)) {
      const auto c = static_cast<size_t>(model.atom_classes[static_cast<size_t>(share.atom)]);
      json["atoms"].push_back({{"atom", share.atom},
                               {"class", model.class_ids[c]},
                               {"name", model.class_names[c]},
                               {"weight", share.weight},
                               {"norm", share.norm}});
    }
    for (const Index i : why.window) json["window"].push_back({i / scene.cols, i % scene.cols});
    return json;
  }

  static std::string to_text(const Model& model, const Pixel& pixel, const Explanation& why) {
    const auto best = static_cast<size_t>(why.class_index);
    std::string text = fmt::format(
        "pixel {},{}: class {} ({}), confidence {:.3f}{}\n\n  score    class\n", pixel.row,
        pixel.col, model.class_ids[best], model.class_names[best], why.confidence,
        coded(model) ? fmt::format(", novelty {:.3f}", why.novelty) : "");
    std::vector<size_t> order(model.class_ids.size());
    for (size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return why.scores[static_cast<Index>(a)] > why.scores[static_cast<Index>(b)];
    });
    for (const size_t c : order)
      text +=
          fmt::format("  {:+.4f}  {}\n", why.scores[static_cast<Index>(c)], model.class_names[c]);
    if (!coded(model))
      return text + fmt::format("\n{} has no atoms that explain a pixel\n", model.method);
    text += fmt::format("\n  weight   in window  atom  drawn from\n");
    for (const Share& share : shares(why.code))
      text += fmt::format("  {:+.4f}  {:9.4f}  {:4}  {}\n", share.weight, share.norm, share.atom,
                          model.class_names[static_cast<size_t>(
                              model.atom_classes[static_cast<size_t>(share.atom)])]);
    return text;
  }

  SceneInput scene_;
  std::string model_, pixel_;
};

}  // namespace

std::unique_ptr<Verb> make_explain() { return std::make_unique<Explain>(); }

}  // namespace hyperatom::cli
