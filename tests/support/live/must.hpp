// SPDX-License-Identifier: Apache-2.0
//
// In a live test a step of the set-up that fails ends the test with its text. GoogleTest reports
// the exception; guards clean up on the way.
#pragma once

#include <stdexcept>
#include <string>

#include "base/result.hpp"

namespace kcg::live {

template <class T>
T must(Result<T> result, const std::string& what = "set-up") {
  if (!result) throw std::runtime_error(what + ": " + result.error().text);
  return std::move(*result);
}

inline void must(const Status& status, const std::string& what = "set-up") {
  if (!status) throw std::runtime_error(what + ": " + status.error().text);
}

}  // namespace kcg::live
