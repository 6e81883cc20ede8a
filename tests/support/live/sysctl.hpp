// SPDX-License-Identifier: Apache-2.0
//
// A setting of this machine, for the time of a test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/live/kernel.hpp"

namespace kcg::live {

/// Resource: a limit of the machine's, as it was before at the end.
class Sysctl final {
 public:
  Sysctl(std::string path, const std::string& value)
      : path_(std::move(path)), before_(slurp_line(path_)) {
    EXPECT_EQ(scribble(path_, value), 0) << path_;
  }
  ~Sysctl() { restore(); }
  Sysctl(const Sysctl&) = delete;
  Sysctl& operator=(const Sysctl&) = delete;
  void restore() const { EXPECT_EQ(scribble(path_, before_), 0) << path_; }

 private:
  std::string path_;
  std::string before_;
};

}  // namespace kcg::live
