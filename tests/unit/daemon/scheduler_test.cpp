// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/scheduler.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kcg {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SandboxId id(const std::string& text) { return SandboxId::parse(text).value(); }

/// What is next, as text: "a", "a!" for a placement, "a+" for a change, "a~" for a background look,
/// "job", "".
std::string next(Scheduler& scheduler, Instant now) {
  const auto turn = scheduler.next(now);
  if (!turn) return "";
  if (!turn->sandbox) {
    scheduler.run_job();
    return "job";
  }
  const char* how[] = {"!", "+", "", "~"};
  return turn->sandbox->str() + how[static_cast<std::size_t>(turn->why)];
}

std::vector<std::string> turns(Scheduler& scheduler, Instant now, std::size_t most = 100) {
  std::vector<std::string> found;
  while (found.size() < most) {
    auto one = next(scheduler, now);
    if (one.empty()) break;
    found.push_back(std::move(one));
  }
  return found;
}

using TurnNames = std::vector<std::string>;
constexpr Instant kNow = seconds(100);

TEST(Scheduler, SandboxesWaitInTheOrderInWhichTheyBecameDue) {
  Scheduler scheduler;
  for (const auto* one : {"c", "a", "b", "a", "c"}) scheduler.due(id(one), Due::event, kNow);
  EXPECT_EQ(turns(scheduler, kNow), (TurnNames{"c", "a", "b"}));
  EXPECT_FALSE(scheduler.next_at(kNow));
}

TEST(Scheduler, OneThatBecomesDueAgainAndAgainGoesToTheBack) {
  Scheduler scheduler;
  for (const auto* one : {"a", "b", "c"}) scheduler.due(id(one), Due::event, kNow);
  TurnNames seen;
  for (int i = 0; i < 6; ++i) {
    seen.push_back(next(scheduler, kNow));
    scheduler.due(id("a"), Due::event, kNow);
  }
  EXPECT_EQ(seen, (TurnNames{"a", "b", "c", "a", "a", "a"}));
}

TEST(Scheduler, OneWhosePassWasLongRestsButForAPlacement) {
  Scheduler scheduler;
  const auto after = [&](Instant cost) {
    scheduler.forget(id("a"));
    scheduler.due(id("a"), Due::event, kNow);
    EXPECT_EQ(next(scheduler, kNow), "a");
    scheduler.charge(id("a"), Due::event, cost, kNow);
    scheduler.due(id("a"), Due::event, kNow);
    return scheduler.next_at(kNow);
  };
  EXPECT_EQ(after(Budget::kLong), kNow) << "not long enough";
  EXPECT_EQ(after(milliseconds(100)), kNow + milliseconds(200));
  EXPECT_EQ(next(scheduler, kNow), "");
  scheduler.due(id("a"), Due::placement, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a!");
}

TEST(Scheduler, APlacementOvertakesWhatWaits) {
  Scheduler scheduler;
  scheduler.due(id("background"), Due::background, kNow);
  scheduler.due(id("event"), Due::event, kNow);
  scheduler.due(id("change"), Due::change, kNow);
  scheduler.due(id("old"), Due::event, kNow);
  scheduler.due(id("new"), Due::placement, kNow);
  scheduler.due(id("old"), Due::placement, kNow);   // keeps its place among the placements
  scheduler.due(id("old"), Due::background, kNow);  // and is not made less urgent
  EXPECT_EQ(turns(scheduler, kNow), (TurnNames{"old!", "new!", "change+", "event", "background~"}));
}

TEST(Scheduler, NoLaneStarvesAnother) {
  Scheduler scheduler;
  unsigned slices = 0;
  scheduler.add_job([&] { return ++slices < 1000; });
  scheduler.due(id("event"), Due::event, kNow);
  scheduler.due(id("change"), Due::change, kNow);
  scheduler.due(id("background"), Due::background, kNow);
  std::map<std::string, unsigned> seen;
  for (int i = 0; i < 200; ++i) {
    scheduler.due(id("p" + std::to_string(i % 7)), Due::placement, kNow);
    const auto one = next(scheduler, kNow);
    ++seen[one.substr(0, 1) == "p" ? "p" : one];
    if (one == "change+") scheduler.due(id("change"), Due::change, kNow);
    if (one == "event") scheduler.due(id("event"), Due::event, kNow);
    if (one == "background~") scheduler.due(id("background"), Due::background, kNow);
  }
  EXPECT_GT(seen["p"], 100U);
  EXPECT_GE(seen["change+"], 20U);
  EXPECT_GE(seen["event"], 20U);
  EXPECT_GE(seen["background~"], 10U);
  EXPECT_GE(seen["job"], 3U);
  EXPECT_LE(seen["job"], 10U) << "placements come first";
}

TEST(Scheduler, BackgroundLooksTakeWhatIsAllowedAndGoOnLater) {
  Scheduler scheduler;
  const auto look = [&] {
    const auto turn = scheduler.next(kNow);
    if (!turn) return std::string();
    scheduler.charge(*turn->sandbox, turn->why, milliseconds(2), kNow);
    return turn->sandbox->str();
  };
  const auto round = [&] {
    scheduler.allow_background(milliseconds(3));
    for (const auto* one : {"a", "b", "c"}) scheduler.due(id(one), Due::background, kNow);
    TurnNames seen;
    for (auto one = look(); !one.empty(); one = look()) seen.push_back(one);
    return seen;
  };
  EXPECT_EQ(round(), (TurnNames{"a", "b"}));
  EXPECT_FALSE(scheduler.next_at(kNow)) << "nothing is due before the next round";
  EXPECT_EQ(round(), (TurnNames{"c", "a"}));
  EXPECT_EQ(round(), (TurnNames{"b", "a"}));
  EXPECT_EQ(round(), (TurnNames{"c", "a"}));
  scheduler.due(id("a"), Due::event, kNow);
  EXPECT_EQ(look(), "a") << "events are not bounded";
}

TEST(Scheduler, AGlanceOwesTheLookThatAnEventCameBefore) {
  Scheduler scheduler;
  for (const auto* one : {"a", "b", "c"}) scheduler.due(id(one), Due::background, kNow);
  scheduler.due(id("a"), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a");
  scheduler.glanced(id("a"));
  EXPECT_EQ(turns(scheduler, kNow), (TurnNames{"a~", "b~", "c~"})) << "at its old place";
  scheduler.glanced(id("a"));
  EXPECT_EQ(next(scheduler, kNow), "") << "once";

  scheduler.due(id("a"), Due::event, kNow);
  scheduler.due(id("a"), Due::background, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a");
  scheduler.glanced(id("a"));
  EXPECT_EQ(next(scheduler, kNow), "a~") << "it became due while an event waited";

  scheduler.due(id("a"), Due::background, kNow);
  scheduler.due(id("a"), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a");
  scheduler.looked(id("a"));
  scheduler.glanced(id("a"));
  EXPECT_EQ(next(scheduler, kNow), "") << "a whole look has come";
}

TEST(Scheduler, AGlanceTakesNoPlaceFromWhatCameMeanwhile) {
  Scheduler scheduler;
  scheduler.due(id("a"), Due::background, kNow);
  scheduler.due(id("a"), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a");
  scheduler.due(id("a"), Due::placement, kNow);
  scheduler.glanced(id("a"));
  EXPECT_EQ(next(scheduler, kNow), "a!");
  scheduler.glanced(id("a"));
  EXPECT_EQ(next(scheduler, kNow), "a~");
}

TEST(Scheduler, AfterALossBackgroundLooksAreNotBounded) {
  Scheduler scheduler;
  scheduler.allow_background(Instant(0));
  scheduler.due(id("a"), Due::background, kNow);
  EXPECT_EQ(turns(scheduler, kNow), TurnNames{});
  scheduler.allow_background(std::nullopt);
  scheduler.due(id("b"), Due::background, kNow);
  EXPECT_EQ(next(scheduler, kNow), "a~");
  scheduler.allow_background(Instant(0));
  EXPECT_EQ(next(scheduler, kNow), "b~")
      << "the next round does not hold up what the loss made due";
}

TEST(Scheduler, JobsAreDoneOneAtATimeASlicePerTurn) {
  Scheduler scheduler;
  std::string done;
  const auto job = [&](char name, unsigned length) {
    return [&done, name, length]() mutable {
      done += name;
      return --length > 0;
    };
  };
  scheduler.add_job(job('a', 3));
  scheduler.add_job(job('b', 2));
  EXPECT_EQ(scheduler.jobs(), 2U);
  EXPECT_EQ(scheduler.next_at(kNow), kNow);
  scheduler.due(id("x"), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "x");
  EXPECT_EQ(next(scheduler, kNow), "job");
  scheduler.due(id("x"), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "x");
  scheduler.add_urgent_job(job('u', 1));
  EXPECT_EQ(turns(scheduler, kNow), TurnNames(5, "job"));
  EXPECT_EQ(done, "auaabb");
  EXPECT_EQ(scheduler.jobs(), 0U);
}

TEST(Scheduler, AJobThatThrowsIsDroppedAndTheNextOneGoesOn) {
  Scheduler scheduler;
  bool done = false;
  scheduler.add_job([]() -> bool { throw std::runtime_error("out of luck"); });
  scheduler.add_job([&] {
    done = true;
    return false;
  });
  EXPECT_THROW((void)next(scheduler, kNow), std::runtime_error);
  EXPECT_EQ(turns(scheduler, kNow), TurnNames{"job"});
  EXPECT_TRUE(done);
}

TEST(Scheduler, OneTimerForEachSandbox) {
  Scheduler scheduler;
  scheduler.wake(id("a"), kNow + seconds(1));
  scheduler.wake(id("a"), kNow + seconds(3));
  scheduler.wake(id("b"), kNow + seconds(2));
  EXPECT_EQ(turns(scheduler, kNow), TurnNames{});
  EXPECT_EQ(scheduler.next_at(kNow), kNow + seconds(2));
  EXPECT_EQ(turns(scheduler, kNow + seconds(2)), TurnNames{"b"});
  EXPECT_EQ(turns(scheduler, kNow + seconds(3)), TurnNames{"a"});
  scheduler.wake(id("a"), kNow + seconds(4));
  scheduler.wake(id("a"), std::nullopt);
  EXPECT_FALSE(scheduler.next_at(kNow));
}

TEST(Scheduler, ATimerIsOverWhenItsSandboxHasBeenLookedAt) {
  Scheduler scheduler;
  scheduler.wake(id("a"), kNow + seconds(1));
  scheduler.due(id("a"), Due::background, kNow);
  EXPECT_EQ(turns(scheduler, kNow), TurnNames{"a~"});
  EXPECT_FALSE(scheduler.next_at(kNow));
}

TEST(Scheduler, WhatIsForgottenIsNeverNext) {
  Scheduler scheduler;
  scheduler.due(id("queued"), Due::placement, kNow);
  scheduler.wake(id("sleeping"), kNow + seconds(1));
  scheduler.forget(id("queued"));
  scheduler.forget(id("sleeping"));
  scheduler.forget(id("never-seen"));
  scheduler.charge(id("never-seen"), Due::event, seconds(1), kNow);
  EXPECT_EQ(turns(scheduler, kNow + seconds(5)), TurnNames{});
  EXPECT_FALSE(scheduler.next_at(kNow));
}

TEST(Scheduler, OneWhosePassesFailIsHeld) {
  Scheduler scheduler;
  scheduler.hold(id("a"), kNow + seconds(4));
  scheduler.due(id("a"), Due::event, kNow);
  scheduler.due(id("a"), Due::placement, kNow);
  EXPECT_EQ(turns(scheduler, kNow + seconds(3)), TurnNames{});
  EXPECT_EQ(turns(scheduler, kNow + seconds(4)), TurnNames{"a"});
  scheduler.hold(id("a"), kNow + seconds(8));
  scheduler.pardon(id("a"));
  scheduler.due(id("a"), Due::event, kNow + seconds(5));
  EXPECT_EQ(turns(scheduler, kNow + seconds(5)), TurnNames{"a"});
}

TEST(Scheduler, AnUnfinishedPassGoesOnBehindTheOthers) {
  Scheduler scheduler;
  for (const auto* one : {"big", "a", "b"}) scheduler.due(id(one), Due::event, kNow);
  EXPECT_EQ(next(scheduler, kNow), "big");
  scheduler.charge(id("big"), Due::event, seconds(10),
                   kNow);  // its budget does not stop it half-way
  scheduler.resume(id("big"), Due::event);
  EXPECT_EQ(turns(scheduler, kNow), (TurnNames{"a", "b", "big"}));
}

/// A guest that makes hints all the time: every pass costs 2 ms, and the next hint is there
/// already.
double share_of(Scheduler& scheduler, Due why, Instant from, Instant until) {
  Instant spent{0};
  auto now = from;
  while (now < until) {
    scheduler.due(id("noisy"), why, now);
    const auto turn = scheduler.next(now);
    if (!turn) {
      now = scheduler.next_at(now).value();
      continue;
    }
    now += milliseconds(2);
    spent += milliseconds(2);
    scheduler.charge(*turn->sandbox, Due::event, milliseconds(2), now);
  }
  return static_cast<double>(spent.count()) / static_cast<double>((until - from).count());
}

TEST(Scheduler, ANoisySandboxGetsABoundedShare) {
  for (const auto why : {Due::event, Due::placement}) {
    Scheduler scheduler;
    EXPECT_LT(share_of(scheduler, why, kNow, kNow + seconds(10)), 0.12);
    EXPECT_LT(share_of(scheduler, why, kNow + seconds(10), kNow + seconds(100)), 0.06);
  }
}

TEST(Scheduler, AQuietSandboxIsLookedAtAtOnce) {
  Scheduler scheduler;
  (void)share_of(scheduler, Due::event, kNow, kNow + seconds(10));
  const auto now = kNow + seconds(10);
  scheduler.due(id("noisy"), Due::event, now);
  scheduler.due(id("quiet"), Due::event, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"quiet"});
  for (int pass = 0; pass < 4; ++pass)
    scheduler.charge(id("quiet"), Due::event, milliseconds(25), now);
  scheduler.due(id("quiet"), Due::event, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"quiet"});
}

TEST(Scheduler, ANoisySandboxIsStillLookedAt) {
  Scheduler scheduler;
  (void)share_of(scheduler, Due::event, kNow, kNow + seconds(10));
  const auto now = kNow + seconds(10);
  scheduler.due(id("noisy"), Due::event, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{});
  EXPECT_LE(scheduler.next_at(now).value(), now + milliseconds(100)) << "its hint is not lost";
  scheduler.due(id("noisy"), Due::placement, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"noisy!"})
      << "a second reserve for the exec of its VMM";
  scheduler.due(id("noisy"), Due::background, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"noisy~"}) << "the resync's look";
  scheduler.due(id("noisy"), Due::change, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"noisy+"}) << "Kata's own word";
  scheduler.pardon(id("noisy"));
  scheduler.due(id("noisy"), Due::event, now);
  EXPECT_EQ(turns(scheduler, now), TurnNames{"noisy"}) << "root has asked for it";
}

}  // namespace
}  // namespace kcg
