// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/waiters.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace kcg {
namespace {

class Waits : public ::testing::Test {
 protected:
  static SandboxId id(const std::string& text) { return SandboxId::parse(text).value(); }
  void wait(const std::set<SandboxId>& ids) {
    waiters_.add(ids, [this](const Result<std::uint32_t>& result) {
      heard_ += result ? std::to_string(*result) : "failed: " + result.error().text;
      heard_ += "\n";
      code_ = result ? 0 : result.error().code;
    });
  }

  Waiters waiters_;
  std::string heard_;
  int code_ = 0;
};

TEST_F(Waits, NothingToWaitForIsAnsweredAtOnce) {
  wait({});
  EXPECT_EQ(heard_, "0\n");
  EXPECT_EQ(waiters_.size(), 0U);
}

TEST_F(Waits, TheStepsOfAllAreAddedUp) {
  wait({id("a"), id("b")});
  waiters_.passed(id("a"), 2, std::nullopt, true);  // systemd has not answered
  waiters_.passed(id("b"), 3, std::nullopt, false);
  waiters_.passed(id("c"), 9, std::nullopt, false);
  EXPECT_EQ(heard_, "");
  waiters_.passed(id("a"), 1, std::nullopt, false);
  EXPECT_EQ(heard_, "6\n");
}

TEST_F(Waits, KnowsForWhom) {
  wait({id("a"), id("b")});
  waiters_.passed(id("a"), 2, std::nullopt, false);
  EXPECT_FALSE(waiters_.waits_for(id("a")));
  EXPECT_TRUE(waiters_.waits_for(id("b")));
}

TEST_F(Waits, AFailureIsTold) {
  wait({id("a"), id("b"), id("c")});
  waiters_.passed(id("a"), 1, std::nullopt, false);
  waiters_.passed(id("b"), 0, Error{EROFS, "memory.max of /x: Read-only file system"}, false);
  waiters_.passed(id("c"), 0, Error{EACCES, "Permission denied"}, false);
  EXPECT_EQ(heard_,
            "failed: sandbox 'b': memory.max of /x: Read-only file system (and 1 sandboxes more); "
            "1 steps were done\n");
  EXPECT_EQ(code_, EROFS);
}

TEST_F(Waits, WhatIsForgottenKeepsNobodyWaiting) {
  wait({id("a"), id("b")});
  wait({id("b")});
  waiters_.passed(id("a"), 2, std::nullopt, false);
  waiters_.forget(id("b"));
  EXPECT_EQ(heard_, "2\n0\n");
  waiters_.forget(id("b"));
  EXPECT_EQ(heard_, "2\n0\n") << "answered once";
}

TEST_F(Waits, WhoIsAnsweredMayAskAgain) {
  waiters_.add({id("a")}, [this](const Result<std::uint32_t>&) { wait({id("a")}); });
  waiters_.passed(id("a"), 1, std::nullopt, false);
  EXPECT_EQ(waiters_.size(), 1U);
  waiters_.passed(id("a"), 7, std::nullopt, false);
  EXPECT_EQ(heard_, "7\n");
}

}  // namespace
}  // namespace kcg
