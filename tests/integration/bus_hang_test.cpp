// SPDX-License-Identifier: Apache-2.0
//
// A bus that is stopped: it takes connections and messages, and answers nothing.
#include <csignal>

#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

/// Resource: the bus does nothing as long as this lives.
class Stopped final {
 public:
  explicit Stopped(const PrivateBus& bus) : pid_(bus.pid()) { kill(pid_, SIGSTOP); }
  ~Stopped() { kill(pid_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  pid_t pid_;
};

class HungBus : public BusStand {
 protected:
  void SetUp() override {}
  void launch() {
    daemon_ = std::make_unique<Server>(std::vector<std::string>{KCG_FAKE_DAEMON, bus_.address()});
  }
  [[nodiscard]] std::string count() const {
    return busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out;
  }
};

TEST_F(HungBus, AStartDoesNotWaitForIt) {
  {
    const Stopped bus(bus_);
    launch();
    command("nothing");  // the loop turns before the bus has said a word
    ASSERT_TRUE(daemon_->expect("does not answer"));
    ASSERT_TRUE(daemon_->expect("ready"));
    command("add abcd1234");
  }
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  EXPECT_EQ(count(), "u 3\n");
}

TEST_F(HungBus, AReconnectionDoesNotWaitForIt) {
  serve();
  bus_.kill();
  ASSERT_TRUE(daemon_->expect("problem lost the bus"));
  bus_.start();
  {
    const Stopped bus(bus_);
    for (int i = 0; i < 20; ++i) command("return");
    EXPECT_EQ(daemon_->count("news"), 0U);
  }
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  EXPECT_EQ(count(), "u 2\n");
}

TEST_F(HungBus, SignalsDoNotWaitForIt) {
  serve();
  {
    const Stopped bus(bus_);
    command("add abcd1234");
    command("change");
    command("remove abcd1234");
  }
  EXPECT_EQ(count(), "u 2\n");
  EXPECT_EQ(daemon_->count("problem"), 0U);
}

TEST_F(HungBus, WhatItDoesNotReadIsBounded) {
  serve();
  {
    const Stopped bus(bus_);
    command("chatter 200000");
    ASSERT_TRUE(daemon_->expect("it does not read"));
    command("add abcd1234");
  }
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  EXPECT_EQ(count(), "u 3\n");
}

TEST_F(HungBus, WhoAsksWhoACallerIsDoesNotWait) {
  serve();
  Server caller({KCG_CGCTL, "--bus", bus_.address(), "reconcile"});
  ASSERT_TRUE(daemon_->expect("reconcile '' false"));
  {
    const Stopped bus(bus_);
    command("answer 1");
    command("nothing");
  }
  EXPECT_EQ(caller.wait(), 0);
}

TEST_F(HungBus, StoppingDoesNotWaitForIt) {
  serve();
  const Stopped bus(bus_);
  daemon_->say("chatter 100000");
  daemon_->say("quit");
  EXPECT_EQ(daemon_->wait(), 0);
}

TEST_F(HungBus, NoBusAtAllIsNoHindrance) {
  bus_.kill();
  launch();
  const auto said = daemon_->expect("problem cannot reach the bus");
  ASSERT_TRUE(said);
  EXPECT_NE(said->find(bus_.directory()), std::string::npos) << *said;
  ASSERT_TRUE(daemon_->expect("ready"));
  bus_.start();
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  EXPECT_EQ(count(), "u 2\n");
}

}  // namespace
}  // namespace kcg::integration
