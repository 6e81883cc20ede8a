// SPDX-License-Identifier: Apache-2.0
#include "history/histories.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/units.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

using Ids = std::set<std::string>;

SandboxView living(const std::string& id) {
  SandboxView view;
  view.id = id;
  view.pod_name = "pod-of-" + id;
  view.state = SandboxState::placed;
  return view;
}

SandboxEvent raised(const std::string& subject, std::int64_t when, const std::string& text = "") {
  SandboxEvent event;
  event.kind = EventKind::raised;
  event.subject = subject;
  event.text = text;
  event.first = event.last = when;
  return event;
}

TEST(Histories, WhatHappensAgainIsCountedAndStandsLast) {
  Histories all;
  all.seen(living("a"));
  all.note("a", raised("OomKilled", 1, "one"));
  all.note("a", raised("Contested", 2));
  all.note("a", raised("OomKilled", 3, "two"));
  const auto events = all.find("a")->events;
  ASSERT_EQ(events.size(), 2U);
  auto twice = raised("OomKilled", 3, "two");
  twice.first = 1;
  twice.times = 2;
  EXPECT_EQ(events.back(), twice);
}

TEST(Histories, TheSameFileOfAnotherGroupIsAnotherEvent) {
  Histories all;
  all.seen(living("a"));
  auto one = raised("cpu.max", 1);
  one.kind = EventKind::repaired;
  one.group = "/vcpu";
  auto other = one;
  other.group = "/io";
  all.note("a", one);
  all.note("a", other);
  EXPECT_EQ(all.find("a")->events.size(), 2U);
}

TEST(Histories, OfOneSandboxTheLastFiftyAreKept) {
  Histories all;
  all.seen(living("a"));
  for (int i = 0; i < 60; ++i) all.note("a", raised("c" + std::to_string(i), i));
  const auto events = all.find("a")->events;
  ASSERT_EQ(events.size(), Histories::kMostEvents);
  EXPECT_EQ(events.front().subject, "c10");
  EXPECT_EQ(events.back().subject, "c59");
}

TEST(Histories, OfTheEndedTheLastTwoHundredAreKeptAndAllThatLive) {
  Histories all;
  all.seen(living("lives"));
  for (int i = 0; i < 210; ++i) {
    const auto id = "s" + std::to_string(i);
    all.seen(living(id));
    all.ended(id, 1000 + i);
  }
  EXPECT_EQ(all.ids().size(), Histories::kMostEnded + 1);
  EXPECT_FALSE(all.find("s9"));
  EXPECT_TRUE(all.find("s10"));
  EXPECT_TRUE(all.find("lives"));
}

TEST(Histories, TheEndIsOneEventAndAReturnKeepsWhatWas) {
  Histories all;
  all.seen(living("a"));
  all.ended("a", 5);
  all.ended("a", 6);
  EXPECT_EQ(all.find("a")->ended, 5);
  ASSERT_EQ(all.find("a")->events.size(), 1U);
  EXPECT_EQ(all.find("a")->events.front().kind, EventKind::ended);
  all.seen(living("a"));
  EXPECT_EQ(all.find("a")->ended, 0);
  EXPECT_EQ(all.find("a")->events.size(), 1U);
}

TEST(Histories, WhoHasComeBackIsNotDroppedWithThoseThatHaveEnded) {
  Histories all;
  all.seen(living("a"));
  all.ended("a", 1);
  all.seen(living("a"));
  for (std::size_t i = 0; i <= Histories::kMostEnded; ++i) {
    const auto id = "s" + std::to_string(i);
    all.seen(living(id));
    all.ended(id, 1000 + static_cast<std::int64_t>(i));
  }
  EXPECT_TRUE(all.find("a"));
  EXPECT_FALSE(all.find("s0"));
}

TEST(Histories, WhoTheyAreIsToldWithoutWhatHappened) {
  Histories all;
  SandboxHistory known;
  known.id = "a";
  known.handler = "kata";
  known.events = {raised("OomKilled", 1)};
  all.restore(known);
  all.seen(living("b"));
  all.ended("b", 5);
  EXPECT_EQ(all.find("a"), known);
  known.events.clear();
  EXPECT_EQ(all.who("a"), known);
  EXPECT_EQ(all.living(), (std::map<std::string, SandboxHistory>{{"a", known}}));
  EXPECT_EQ(all.ids(), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(all.who("c"));
}

TEST(Histories, NobodyIsRememberedWhoWasNotSeen) {
  Histories all;
  all.note("a", raised("OomKilled", 1));
  all.ended("a", 2);
  EXPECT_TRUE(all.ids().empty());
  EXPECT_TRUE(all.take_changed().empty());
}

TEST(Histories, TellsWhatIsToBeWritten) {
  Histories all;
  all.seen(living("a"));
  all.seen(living("b"));
  EXPECT_EQ(all.take_changed(), (Ids{"a", "b"}));
  all.seen(living("a"));
  EXPECT_TRUE(all.take_changed().empty()) << "nothing is new";
  all.note("b", raised("OomKilled", 1));
  EXPECT_EQ(all.take_changed(), Ids{"b"});
  all.ended("a", 1);
  EXPECT_EQ(all.take_changed(), Ids{"a"});
  SandboxHistory known;
  known.id = "c";
  known.ended = 1;
  all.restore(known);
  EXPECT_TRUE(all.take_changed().empty()) << "that is where it came from";
  for (int i = 0; i < 200; ++i) {
    const auto id = "s" + std::to_string(i);
    all.seen(living(id));
    all.ended(id, 1000 + i);
  }
  EXPECT_TRUE(all.take_changed().contains("c")) << "its file goes";
}

TEST(Histories, AConditionBecomesAnEvent) {
  const Condition condition{ConditionName::oom_killed, "one process", Severity::error};
  const auto event = event_of({ConditionNews::What::again, condition}, 7);
  EXPECT_EQ(event.kind, EventKind::raised);
  EXPECT_EQ(event.subject, "OomKilled");
  EXPECT_EQ(event.text, "one process");
  EXPECT_EQ(event.severity, Severity::error);
  EXPECT_EQ(event.last, 7);
  EXPECT_EQ(event_of({ConditionNews::What::cleared, condition}, 7).kind, EventKind::cleared);
}

/// A sandbox in memory, and what its passes make of the things that are done to it.
class PassEvents : public testing::Test {
 protected:
  PassEvents() : world_(scenario()) {
    world_.boot();
    (void)world_.pass();
    (void)world_.pass();
  }
  static Scenario scenario() {
    Scenario s;
    s.strangers = 0;
    return s;
  }
  [[nodiscard]] std::vector<SandboxEvent> events_of_a_pass() {
    std::vector<SandboxEvent> events;
    const auto pass = world_.pass();
    for (const auto& round : pass.rounds) {
      EXPECT_TRUE(round.was_placed);
      for (auto& event : events_of(round.report, round.repairs, 9)) events.push_back(event);
    }
    return events;
  }
  void write(const std::string& below, const std::string& file, const std::string& text) {
    const auto path = world_.expected_sandbox_group() + below;
    world_.tree.outside([&](CgroupTree& tree) {
      ASSERT_TRUE(tree.write({"v2", CgroupPath::parse(path).value()}, file, text));
    });
  }
  SandboxWorld world_;
};

TEST_F(PassEvents, NothingHappensWhereAllIsWell) { EXPECT_TRUE(events_of_a_pass().empty()); }

TEST_F(PassEvents, ALimitThatSomebodyChangedIsARepair) {
  write("/vcpu", "cpu.weight", "77");
  const auto events = events_of_a_pass();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, EventKind::repaired);
  EXPECT_EQ(events[0].subject, "cpu.weight");
  EXPECT_EQ(events[0].group, world_.expected_sandbox_group() + "/vcpu");
  EXPECT_EQ(events[0].from, "77");
  EXPECT_NE(events[0].to, "77");
}

TEST_F(PassEvents, AThreadThatSomebodyMovedIsARepair) {
  write("/vmm", "cgroup.threads", std::to_string(world_.vcpus.front()));
  const auto events = events_of_a_pass();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, EventKind::repaired);
  EXPECT_EQ(events[0].subject, "");
  EXPECT_EQ(events[0].group, world_.expected_sandbox_group() + "/vcpu");
  EXPECT_EQ(events[0].from, world_.expected_sandbox_group() + "/vmm");
  EXPECT_EQ(events[0].to, std::to_string(world_.vcpus.front()));
}

TEST(Histories, ThePeakIsOfOneVm) {
  constexpr std::uint64_t kSome = 64 * kMib;
  Histories all;
  all.overhead("a", 7, kSome);
  EXPECT_EQ(all.overhead_peak("a", 7), std::nullopt) << "nobody has seen it";
  all.seen(living("a"));
  (void)all.take_changed();
  all.overhead("a", 7, kSome);
  EXPECT_EQ(all.take_changed(), Ids{"a"});
  EXPECT_EQ(all.overhead_peak("a", 7), kSome);
  EXPECT_EQ(all.overhead_peak("a", 8), std::nullopt);
  all.overhead("a", 7, kSome + kMib - 1);
  EXPECT_EQ(all.take_changed(), Ids{}) << "little more is not written each time";
  all.overhead("a", 7, kSome + kMib);
  EXPECT_EQ(all.overhead_peak("a", 7), kSome + kMib);
  all.overhead("a", 8, 1);
  EXPECT_EQ(all.overhead_peak("a", 8), 1U);
  all.overhead("a", 9, 0);
  EXPECT_EQ(all.take_changed(), Ids{"a"});
  all.overhead("a", 9, 0);
  EXPECT_EQ(all.take_changed(), Ids{}) << "nothing is no reason to write it again either";
}

TEST(PlacedEvent, SaysHowManyThreadsAndHowLateTheLastVcpuWas) {
  Observed observed;
  observed.processes.resize(2);
  observed.processes[0].threads.resize(15);
  observed.processes[1].threads.resize(1);
  const auto text = [&](std::optional<Instant> took) {
    return placed_event(observed, took, 9).text;
  };
  EXPECT_EQ(text(Instant(4120)), "16 threads, 4.1 ms after the last vCPU");
  EXPECT_EQ(text(std::nullopt), "16 threads");
  observed.processes.pop_back();
  observed.processes[0].threads.resize(1);
  EXPECT_EQ(text(std::nullopt), "1 thread");
  EXPECT_EQ(placed_event(observed, std::nullopt, 9).kind, EventKind::placed);
  EXPECT_EQ(placed_event(observed, std::nullopt, 9).last, 9);
}

TEST(PlacedEvent, WaitsForTheVcpusOfAYoungVmm) {
  Observed observed;
  observed.vmm_age_ms = kYoungMs - 1;
  observed.processes.resize(1);
  observed.processes[0].threads.resize(2);
  EXPECT_FALSE(vcpus_run(observed));
  observed.processes[0].threads[1].cls = ThreadClass::vcpu;
  EXPECT_TRUE(vcpus_run(observed));
  observed.processes[0].threads.pop_back();
  observed.vmm_age_ms = kYoungMs;
  EXPECT_TRUE(vcpus_run(observed)) << "nothing tells which they are";
}

}  // namespace
}  // namespace kcg::test
