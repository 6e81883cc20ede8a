// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/turns.hpp"

#include <gtest/gtest.h>
#include <systemd/sd-event.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace kcg::test {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  std::function<void()> say(const std::string& what) {
    return [this, what] { said_ += what; };
  }
  void run_until(const std::string& said) {
    for (int i = 0; i < 100 && said_.find(said) == std::string::npos; ++i)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at by who asks
  }

  SystemClock clock_;
  Log log_{clock_, LogLevel::error};
  std::unique_ptr<Loop> loop_ = Loop::create().value();
  Scheduler scheduler_;
  Turns turns_{*loop_, clock_, log_, scheduler_};
  std::string said_;
};

TEST_F(TurnsTest, ATimerThatWasCancelledIsNone) {
  const auto when = clock_.now() + std::chrono::milliseconds(5);
  turns_.after(when, say("a"));
  const auto second = turns_.after(when, say("b"));
  turns_.after(when, say("c"));
  turns_.cancel(second);
  turns_.cancel(second);
  run_until("c");
  EXPECT_EQ(said_, "ac");
  turns_.cancel(second);
  turns_.after(when, say("d"));
  run_until("d");
  EXPECT_EQ(said_, "acd");
}

TEST_F(TurnsTest, WhatATimerThrowsHoldsNoOtherUp) {
  const auto when = clock_.now();
  turns_.after(when, [] { throw std::runtime_error("always"); });
  turns_.after(when, say("b"));
  run_until("b");
  EXPECT_EQ(said_, "b");
}

}  // namespace
}  // namespace kcg::test
