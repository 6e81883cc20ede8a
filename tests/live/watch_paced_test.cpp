// SPDX-License-Identifier: Apache-2.0
//
// A descriptor that is ready again and again is read now and then.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/paced_fd.hpp"

namespace kcg::test {

namespace {

using std::chrono::milliseconds;

class Paced : public ::testing::Test {
 protected:
  static constexpr std::size_t kEnough = 40;

  /// Until it was asked often enough.
  void listen(std::function<Heard()> read) {
    paced_ = std::make_unique<PacedFd>(
        *loop_,
        [this, read = std::move(read)] {
          asked_.push_back(clock_.now());
          if (asked_.size() == kEnough) loop_->exit(0);
          return read();
        },
        [](const Error& why) { FAIL() << why.text; });
    ASSERT_TRUE(paced_->listen(event_.get(), EPOLLIN));
    in_vain_ = loop_->at(clock_.now() + std::chrono::seconds(10), [this] { loop_->exit(1); });
  }
  /// How long it took from one reading to the last. A pause begins just before a reading, so that
  /// this may be short of one.
  [[nodiscard]] Instant since(std::size_t first) const { return asked_.back() - asked_[first]; }
  [[nodiscard]] static Instant pauses(std::size_t first, Instant each) {
    return static_cast<Instant::rep>(kEnough - first - 2) * each;
  }
  void empty() const {
    std::uint64_t value = 0;
    (void)::read(event_.get(), &value, sizeof value);  // ignored: it may be empty
  }
  void fill() const { ASSERT_EQ(::eventfd_write(event_.get(), 1), 0); }

  std::unique_ptr<Loop> loop_ = std::move(Loop::create().value());
  SystemClock clock_;
  const Fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::unique_ptr<PacedFd> paced_;
  std::vector<Instant> asked_;
  Result<Source> then_{Source()}, in_vain_{Source()};
};

TEST_F(Paced, AStormIsReadNowAndThen) {
  listen([] { return Heard::news; });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_GE(since(2), pauses(2, PacedFd::kGather));
}

TEST_F(Paced, AStormThatConcernsNobodyIsReadMoreRarely) {
  listen([] { return Heard::noise; });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_GE(since(2), pauses(2, PacedFd::kGather));
  constexpr std::size_t kFirst = PacedFd::kNoisy + 3;
  EXPECT_GE(since(kFirst), pauses(kFirst, PacedFd::kGatherNoise));
}

/// Where it comes in gusts.
TEST_F(Paced, AStormThatConcernsNobodyHasMomentsOfSilence) {
  listen([this] {
    const bool silent = asked_.size() % 3 == 0;
    if (silent) empty();
    then_ = silent ? loop_->soon([this] { fill(); }) : Result<Source>(Source());
    return silent ? Heard::nothing : Heard::noise;
  });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  int long_pauses = 0;
  for (std::size_t i = 1; i < asked_.size(); ++i)
    long_pauses += asked_[i] - asked_[i - 1] > 2 * PacedFd::kGather ? 1 : 0;
  EXPECT_GE(long_pauses, 5);
}

/// The next storm may concern somebody.
TEST_F(Paced, ALullEndsTheLongPauses) {
  constexpr std::size_t kLull = PacedFd::kNoisy + 6;
  listen([this] {
    if (asked_.size() != kLull) return Heard::noise;
    empty();
    then_ = loop_->at(clock_.now() + 10 * PacedFd::kGather, [this] { fill(); });
    return Heard::nothing;
  });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  Instant shortest = Instant::max();
  for (std::size_t i = kLull + 2; i < asked_.size(); ++i)
    shortest = std::min(shortest, asked_[i] - asked_[i - 1]);
  EXPECT_LT(shortest, PacedFd::kGatherNoise);
}

/// None is read in vain.
TEST_F(Paced, AFewWakeUpsAreNoStorm) {
  listen([this] {
    empty();
    if (asked_.size() < PacedFd::kFew) fill();
    then_ = loop_->at(clock_.now() + 10 * PacedFd::kGather, [this] { loop_->exit(0); });
    return Heard::news;
  });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(asked_.size(), PacedFd::kFew);
}

/// The storm's end is seen by one reading that gives nothing; from then on the descriptor tells.
TEST_F(Paced, WhatIsQuietAgainIsListenedTo) {
  constexpr std::size_t kStorm = PacedFd::kFew + 2;
  listen([this] {
    empty();
    if (asked_.size() < kStorm) fill();
    if (asked_.size() == kStorm + 2) loop_->exit(0);
    if (asked_.size() != kStorm + 1) return Heard::news;
    then_ = loop_->soon([this] { fill(); });
    return Heard::nothing;
  });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
}

TEST_F(Paced, WhoThrowsIsAskedAgain) {
  listen([this]() -> Heard {
    if (asked_.size() % 4 == 3) throw std::runtime_error("out of luck");
    return Heard::news;
  });
  fill();
  loop_->on_failure([](const std::string&) {});
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(asked_.size(), kEnough);
}

TEST_F(Paced, WhoStopsItIsNotAskedAgain) {
  listen([this] {
    if (asked_.size() != 5) return Heard::news;
    paced_->stop();
    then_ = loop_->at(clock_.now() + milliseconds(50), [this] { loop_->exit(0); });
    return Heard::news;
  });
  fill();
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(asked_.size(), 5U);
}

}  // namespace
}  // namespace kcg::test
