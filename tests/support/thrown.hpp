// The message of an exception that must be thrown.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace hyperatom::test {

template <class Error, class Function>
std::string thrown(const Function& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// EXPECT_PRED2(contains, message, part) prints both when the part is missing.
inline bool contains(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace hyperatom::test
