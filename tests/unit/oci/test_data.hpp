// SPDX-License-Identifier: Apache-2.0
//
// Fixtures of tests/data, for tests only.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace kcg {

inline std::string test_data(const std::string& name) {
  std::ifstream file(KCG_TEST_DATA "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << "missing fixture " << name;
  return text.str();
}

}  // namespace kcg
