// What the library throws. Every message names the option or file, what was found and what was
// expected. A code that did not converge is data, not an exception.
#pragma once

#include <stdexcept>
#include <string>

namespace hyperatom {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option out of its range, an unknown name, a malformed spec.
struct OptionError : Error {
  using Error::Error;
};

/// Input that is unreadable, malformed or does not fit the rest.
struct DataError : Error {
  using Error::Error;
};

/// Arithmetic that left the finite numbers.
struct NumericalError : Error {
  using Error::Error;
};

/// The operating system refused: disk full, no permission, short read.
struct IoError : Error {
  using Error::Error;
};

}  // namespace hyperatom
