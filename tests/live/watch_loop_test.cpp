// SPDX-License-Identifier: Apache-2.0
//
// The event loop itself: order, ends of registrations, failures.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/fd.hpp"
#include "daemon/loop.hpp"

namespace kcg::test {

namespace {

using std::chrono::milliseconds;

class Loops : public ::testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = std::move(Loop::create().value());
  SystemClock clock_;
  std::string heard_;
};

TEST_F(Loops, TimersRunInTheirOrder) {
  const auto now = clock_.now();
  auto last = loop_->at(now + milliseconds(4), [&] {
    heard_ += "3";
    loop_->exit(7);
  });
  auto first = loop_->at(now - milliseconds(1), [&] { heard_ += "1"; });
  auto second = loop_->at(now + milliseconds(2), [&] { heard_ += "2"; });
  EXPECT_EQ(loop_->run().value(), 7);
  EXPECT_EQ(heard_, "123");
}

TEST_F(Loops, IdleComesAfterEverythingThatIsReady) {
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  auto idle = loop_->when_idle([&] {
    heard_ += "idle";
    loop_->exit(0);
  });
  auto ready = loop_->on_fd(event.get(), EPOLLIN, [&](std::uint32_t events) {
    std::uint64_t value = 0;
    heard_ += events == EPOLLIN ? "fd " : "? ";
    EXPECT_EQ(::read(event.get(), &value, sizeof value), 8);
  });
  auto timer = loop_->at(clock_.now() - milliseconds(1), [&] { heard_ += "timer "; });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_TRUE(heard_ == "fd timer idle" || heard_ == "timer fd idle") << heard_;
}

TEST_F(Loops, ACallbackMayEndItsOwnRegistration) {
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // stays ready
  Source source;
  source = loop_
               ->on_fd(event.get(), EPOLLIN,
                       [&, kept = std::string("kept")](std::uint32_t) {
                         source = Source();
                         heard_ += kept;
                       })
               .value();
  auto end = loop_->at(clock_.now() + milliseconds(5), [&] { loop_->exit(0); });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(heard_, "kept");
}

TEST_F(Loops, AnEndedRegistrationIsSilent) {
  auto dropped = loop_->at(clock_.now(), [&] { heard_ += "dropped"; });
  *dropped = Source();
  auto end = loop_->at(clock_.now() + milliseconds(2), [&] { loop_->exit(0); });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(heard_, "");
}

TEST_F(Loops, SignalsAreEvents) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &set, nullptr), 0);
  auto source = loop_->on_signal(SIGUSR1, [&] { loop_->exit(3); });
  ASSERT_TRUE(source) << source.error().text;
  ::raise(SIGUSR1);
  EXPECT_EQ(loop_->run().value(), 3);
}

TEST_F(Loops, AnExceptionEndsTheLoopWithItsText) {
  auto source = loop_->at(clock_.now(), [] { throw std::runtime_error("out of luck"); });
  const auto ended = loop_->run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text, "a handler of the event loop failed: out of luck");
}

}  // namespace

}  // namespace kcg::test
