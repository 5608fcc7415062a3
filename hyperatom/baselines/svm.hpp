// The paper's SVM: one against one, on single pixels, by LIBSVM.
//
// The result is a Model of ours whose atoms are the support vectors; LIBSVM's own model files are
// never read or written (its reader trusts them).
#pragma once

#include "hyperatom/learn/model.hpp"
#include "hyperatom/learn/samples.hpp"

namespace hyperatom {

/// `kernel`: linear or gaussian. `cost`: C. Uses the centres of the windows; what the samples don't
/// tell (normaliser, wavelengths, classes) is left to fill in. Throws OptionError for another
/// kernel or a cost that is not positive.
Model train_svm(const Samples& samples, const Spec& kernel, double cost);

}  // namespace hyperatom
