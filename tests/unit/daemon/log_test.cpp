// SPDX-License-Identifier: Apache-2.0
//
// How often the journal is told the same.
#include "daemon/log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/fake_clock.hpp"

namespace kcg::test {
namespace {

using std::chrono::seconds;

class Logs : public ::testing::Test {
 protected:
  /// What is printed while `act` runs, without the priority, which people are not shown.
  template <class Act>
  static std::string printed(Act act) {
    testing::internal::CaptureStderr();
    act();
    const auto text = testing::internal::GetCapturedStderr();
    return text.starts_with('<') ? text.substr(text.find('>') + 1) : text;
  }
  std::string trouble(const char* sandbox = "s") {
    return printed([&] { log_.limited(LogLevel::warning, sandbox, "kind", "text"); });
  }
  FakeClock clock_;
  Log log_{clock_, LogLevel::info};
};

TEST_F(Logs, WhatGoesOnIsToldOnceInTenSeconds) {
  EXPECT_EQ(trouble(), "sandbox 's': text\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trouble(), "");
  EXPECT_EQ(trouble("other"), "sandbox 'other': text\n") << "each has a voice of his own";
  clock_.advance(seconds(10));
  EXPECT_EQ(trouble(), "sandbox 's': text (3 more like it)\n");
}

TEST_F(Logs, EachKillIsTold) {
  const auto again = [&](ConditionName name) {
    return printed([&] { log_.condition_again("s", {name, "text"}); });
  };
  for (int i = 0; i < 3; ++i) EXPECT_NE(again(ConditionName::oom_killed), "");
  EXPECT_NE(again(ConditionName::write_failed), "");
  EXPECT_EQ(again(ConditionName::write_failed), "");
}

}  // namespace
}  // namespace kcg::test
