// `hyperatom report`: a scene and a model to a page that opens in a browser.
#include "apps/hyperatom/reporting.hpp"

namespace hyperatom::cli {
namespace {

class Report final : public Verb {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "Makes a page to look at: the map, why every pixel has its class, how well it does.";
  }
  std::string example() const override {
    return "hyperatom report scene.bsq -m runs/crop -o report.html";
  }

  void declare(Arguments& arguments) override {
    request_.scene.declare(arguments);
    arguments.option(
        {.name = "model", .value = &request_.model, .help = "a run folder or a model file"}, 'm',
        Arguments::Need::required);
    request_.labels.declare(arguments, Arguments::Need::optional);
    arguments.option({.name = "split",
                      .value = &request_.split,
                      .help = "a split file: its test pixels are those that count"});
    arguments.option({.name = "output",
                      .value = &request_.page,
                      .help = "the page to make; without it, report.html in the run folder"},
                     'o');
    arguments.option({.name = "max-mb",
                      .value = &request_.max_mb,
                      .help = "megabytes that the page may have; spectra and codes are left out "
                              "until it fits",
                      .lowest = 1,
                      .highest = 1e4});
    arguments.flag("overwrite", request_.overwrite, "replace what is there");
  }

  Result run(const Common& common, Console& console) override {
    return report(request_, common, console);
  }

 private:
  ReportRequest request_;
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<Report>(); }

}  // namespace hyperatom::cli
