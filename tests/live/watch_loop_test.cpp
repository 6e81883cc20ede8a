// SPDX-License-Identifier: Apache-2.0
//
// The event loop itself: order, ends of registrations, failures; and hints that wait in it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "daemon/failure_count.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/gated_sink.hpp"

namespace kcg::test {

namespace {

using std::chrono::milliseconds;

class Loops : public ::testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = std::move(Loop::create().value());
  SystemClock clock_;
  std::string heard_;
};

TEST_F(Loops, TimersWaitForTheirTime) {
  const auto now = clock_.now();
  std::vector<Source> timers;
  std::size_t left = 3;
  for (const int ms : {4, -1, 2}) {
    const Instant due = now + milliseconds(ms);
    const auto act = [&, due] {
      EXPECT_GE(clock_.now(), due);
      if (--left == 0) loop_->exit(7);
    };
    timers.push_back(std::move(loop_->at(due, act).value()));
  }
  EXPECT_EQ(loop_->run().value(), 7);
}

TEST_F(Loops, SoonComesAfterEverythingThatIsReady) {
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  auto soon = loop_->soon([&] {
    heard_ += "soon";
    loop_->exit(0);
  });
  auto ready = loop_->on_fd(event.get(), EPOLLIN, [&](std::uint32_t events) {
    std::uint64_t value = 0;
    heard_ += events == EPOLLIN ? "fd " : "? ";
    EXPECT_EQ(::read(event.get(), &value, sizeof value), 8);
  });
  auto timer = loop_->at(clock_.now() - milliseconds(1), [&] { heard_ += "timer "; });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_TRUE(heard_ == "fd timer soon" || heard_ == "timer fd soon") << heard_;
}

TEST_F(Loops, WhatIsAlwaysReadyKeepsNobodyWaiting) {
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // never read
  unsigned served = 0;
  unsigned turns = 0;
  Source soon;
  const std::function<void()> again = [&] {
    if (++turns == 50) return loop_->exit(0);
    soon = loop_->soon(again).value();
  };
  soon = loop_->soon(again).value();
  auto endless = loop_->on_fd(event.get(), EPOLLIN, [&](std::uint32_t) {
    if (++served == 10'000) loop_->exit(1);
  });
  EXPECT_EQ(loop_->run().value(), 0) << turns << " turns beside " << served;
  EXPECT_LE(served, 150U) << "and the other way round";
  EXPECT_GE(served, 25U);
}

TEST_F(Loops, AKeptHintDoesNotWaitForALaterOne) {
  int passed = 0;
  GatedSink sink(*loop_, [&](const Hint& hint) {
    if (++passed <= 2 * HintGate::kBurst) return;
    heard_ += hint.kind == HintKind::thread ? "thread " : "state ";
    if (hint.kind == HintKind::thread) loop_->exit(0);
  });
  const auto between = clock_.now() + HintGate::kThreadPause / 2;
  for (const auto kind : {HintKind::thread, HintKind::kata_state})
    for (int i = 0; i <= HintGate::kBurst; ++i) sink({kind, "s1", 0});
  auto timer = loop_->at(between, [&] { heard_ += "timer "; });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(heard_, "state timer thread ");
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

TEST_F(Loops, SignalsGoFirst) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::vector<Fd> events;
  std::vector<Source> sources;
  const auto ready = [&] {
    events.emplace_back(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    sources.push_back(std::move(
        loop_->on_fd(events.back().get(), EPOLLIN, [&](std::uint32_t) { heard_ += "fd "; })
            .value()));
  };
  ready();
  auto signal = loop_->on_signal(SIGUSR2, [&] {
    heard_ += "signal ";
    loop_->exit(0);
  });
  ASSERT_TRUE(signal) << signal.error().text;
  ready();
  ::raise(SIGUSR2);
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(heard_, "signal ");
}

TEST_F(Loops, AnExceptionIsToldAndTheOthersGoOn) {
  loop_->on_failure([&](const std::string& what) { heard_ += what + ", then "; });
  auto bad = loop_->at(clock_.now(), [] { throw std::runtime_error("out of luck"); });
  auto worse = loop_->at(clock_.now() + milliseconds(2), [] { throw 7; });
  auto good = loop_->at(clock_.now() + milliseconds(4), [&] {
    heard_ += "done";
    loop_->exit(0);
  });
  EXPECT_EQ(loop_->run().value(), 0);
  EXPECT_EQ(heard_, "out of luck, then unknown exception, then done");
}

TEST_F(Loops, ExceptionsWithoutEndEndTheLoopWithTheirText) {
  const Fd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // stays ready
  int calls = 0;
  auto source = loop_->on_fd(event.get(), EPOLLIN, [&](std::uint32_t) {
    ++calls;
    throw std::bad_alloc();
  });
  const auto ended = loop_->run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text, "handlers of the event loop fail again and again: std::bad_alloc");
  EXPECT_EQ(calls, FailureCount::kMost + 1);
}

TEST_F(Loops, WhoCannotEvenSayItEndsTheLoop) {
  loop_->on_failure([](const std::string&) { throw std::bad_alloc(); });
  auto bad = loop_->at(clock_.now(), [] { throw std::runtime_error("out of luck"); });
  EXPECT_FALSE(loop_->run());
}

}  // namespace

}  // namespace kcg::test
