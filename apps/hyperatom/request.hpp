// What a command that learns was asked for: data, method, settings.
#pragma once

#include <set>
#include <string>

#include "apps/hyperatom/inputs.hpp"
#include "hyperatom/baselines/method.hpp"
#include "hyperatom/learn/train_options.hpp"

namespace hyperatom::cli {

struct TrainRequest {
  SceneInput scene = {};
  LabelInput labels = {};
  std::string test_labels = {};  ///< a second label map: the two are the split
  std::string split = {};        ///< a split file
  std::string method = "sdl-l12-k";
  Index window = 9;
  std::string normalize = "mnf";
  TrainOptions options = {};
  std::set<std::string> given = {};  ///< options that were asked for; the others are chosen

  /// SCENE --labels --split --test-labels, none of which `--resume` needs.
  void declare_data(Arguments& arguments);
  /// The settings and the options, but for those in `without`.
  void declare_options(Arguments& arguments, const std::set<std::string>& without = {});
  /// Throws OptionError unless there is a scene and labels, and one way to test.
  void expect_data(const std::string& verb) const;
  /// Whether anything but defaults was asked for.
  bool anything() const;
  /// Those that are not files and not options of the trainer.
  Fields settings();
  /// All but `options`, for args.json.
  Fields fields();
};

/// What a field at its default is called on the command line: "no-intercept" turns it off.
std::string flag_name(const Field& field);

/// The window and the kernel that a method of the paper means, where none were given. Throws
/// OptionError where they contradict it, and for options that the method does not heed.
void apply_method(TrainRequest& request);

/// Before anything is read: kernels and losses that can't be made. A Gaussian without its sigma is
/// completed later.
void expect_specs(const TrainOptions& options);

/// So that the run can be gone on with from anywhere.
void make_absolute(TrainRequest& request);

}  // namespace hyperatom::cli
