// SPDX-License-Identifier: Apache-2.0
//
// What the service tells by itself, and how it comes back when the bus is gone.
#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class BusSignals : public BusStand {
 protected:
  void SetUp() override {
    BusStand::SetUp();
    monitor_ = std::make_unique<Server>(
        std::vector<std::string>{"dbus-monitor", "--address", bus_.address(),
                                 "type='signal',path_namespace='/io/katacontainers'"});
    // It prints its own NameAcquired before it monitors; a signal of ours proves that it does.
    ASSERT_TRUE(monitor_->expect("NameLost"));
  }
  /// The signal whose line holds all parts.
  void expect(const std::string& part) { EXPECT_TRUE(monitor_->expect(part)) << part; }

  std::unique_ptr<Server> monitor_;
};

TEST_F(BusSignals, AChangeIsAnnouncedPropertyByProperty) {
  command("change");
  expect("member=PropertiesChanged");
  for (const auto* name : {"\"State\"", "\"VcpuCount\"", "\"Limits\"", "\"Conditions\""})
    expect(name);
  // Read when asked for, so only invalidated.
  expect("\"Threads\"");
  expect("\"Groups\"");
  expect("member=SandboxStateChanged");
  expect("\"degraded\"");
  expect("\"placed\"");
  expect("member=ConditionChanged");
  expect("\"ParentUndersized\"");
  expect("boolean false");
  expect("\"QuotaClamped\"");
  expect("\"OomKilled\"");
  expect("boolean true");
  expect("\"twice\"");
  expect("\"ConditionCount\"");
  EXPECT_EQ(monitor_->count("\"PodName\""), 0U) << "it did not change";
  EXPECT_EQ(monitor_->count("\"MemoryCurrent\""), 0U) << "its changes are not announced";
  EXPECT_EQ(daemon_->count("view "), 0U) << "signals do not read the node";
  EXPECT_EQ(busctl({"get-property", kService, first_object(), kSandbox, "VcpuCount"}).out, "u 3\n");
}

TEST_F(BusSignals, TheDaemonsOwnProblemsAreAnnounced) {
  const auto problems = [&] {
    return busctl({"get-property", kService, kRoot, kManager, "Problems"}).out;
  };
  EXPECT_EQ(problems(), "as 0\n");
  command("trouble bundles: no room");
  expect("member=PropertiesChanged");
  expect("\"Problems\"");
  expect("\"bundles: no room\"");
  EXPECT_EQ(problems(), "as 1 \"bundles: no room\"\n");
  command("trouble");
  EXPECT_EQ(problems(), "as 0\n");
}

TEST_F(BusSignals, WhatHappensIsToldAsADocument) {
  command("happen");
  expect("member=EventAdded");
  expect("\"kind\": \"repaired\"");
  expect("\"times\": 3");
}

TEST_F(BusSignals, SandboxesComeAndGo) {
  command("add abcd1234");
  expect("member=InterfacesAdded");
  expect("member=SandboxAdded");
  expect("string \"abcd1234\"");
  expect("\"SandboxCount\"");
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 3\n");
  command("remove abcd1234");
  expect("member=InterfacesRemoved");
  expect("member=SandboxRemoved");
  expect("string \"abcd1234\"");
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 2\n");
  EXPECT_EQ(daemon_->count("view "), 0U);
}

TEST_F(BusSignals, AddingTwiceIsAChange) {
  command("add abcd1234");
  command("add abcd1234");
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 3\n");
  EXPECT_EQ(daemon_->count("problem"), 0U);
}

class LostBus : public BusStand {};

TEST_F(LostBus, TheServiceComesBackWithEverything) {
  bus_.kill();
  ASSERT_TRUE(daemon_->expect("problem lost the bus"));
  command("add abcd1234");  // nobody hears it, and nothing breaks
  command("change");
  EXPECT_EQ(daemon_->count("problem"), 1U) << "it is known that nobody hears";
  bus_.start();
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 3\n");
  EXPECT_EQ(busctl({"get-property", kService, first_object(), kSandbox, "State"}).out,
            "s \"placed\"\n");
  command("remove abcd1234");
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 2\n");
}

TEST_F(LostBus, AgainAndAgain) {
  for (int round = 0; round < 3; ++round) {
    bus_.kill();
    ASSERT_TRUE(daemon_->expect("problem lost the bus")) << round;
    bus_.start();
    ASSERT_TRUE(daemon_->expect("news connected to the bus")) << round;
    EXPECT_EQ(cgctl({"list"}).status, 0);
  }
}

TEST_F(LostBus, AnAnswerThatComesTooLateIsDropped) {
  Server waiting({KCG_CGCTL, "--bus", bus_.address(), "reconcile"});
  ASSERT_TRUE(daemon_->expect("reconcile '' false"));
  bus_.kill();
  ASSERT_TRUE(daemon_->expect("problem lost the bus"));
  EXPECT_EQ(waiting.wait(), 5) << "the daemon cannot be reached";
  bus_.start();
  ASSERT_TRUE(daemon_->expect("news connected to the bus"));
  command("answer 3");
  EXPECT_EQ(cgctl({"list"}).status, 0);
}

}  // namespace
}  // namespace kcg::integration
