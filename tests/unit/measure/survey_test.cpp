// SPDX-License-Identifier: Apache-2.0
#include "measure/survey.hpp"

#include <gtest/gtest.h>

#include "base/units.hpp"
#include "model/condition.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kGib = 1024 * kMib;
constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr std::int64_t kStart = 1'700'000'000;

SandboxHistory used(std::uint64_t mib, std::uint64_t ram = 2 * kGib) {
  SandboxHistory history;
  history.id = "x";
  history.handler = "kata-qemu";
  history.created = kStart;
  history.overhead_declared = 350 * kMib;
  history.overhead_peak = mib * kMib;
  history.guest_ram = ram;
  return history;
}

OverheadAdvice advice(const Survey& survey) {
  const auto all = advice_of(survey, "");
  return all.size() == 1 ? all.front() : OverheadAdvice{};
}

Survey so_many(unsigned count, std::uint64_t mib, std::int64_t until = kStart + kDay) {
  Survey survey;
  for (unsigned i = 0; i < count; ++i) survey.add(used(mib), until);
  return survey;
}

TEST(Survey, OfNothingSaysNothing) { EXPECT_TRUE(advice_of(Survey(), "").empty()); }

TEST(Survey, AdvisesWhatHoldsNinetyNineOfAHundredAndATenth) {
  auto survey = so_many(99, 100);
  survey.add(used(900), kStart + kDay);
  const auto told = advice(survey);
  EXPECT_EQ(told.handler, "kata-qemu");
  EXPECT_EQ(told.all.sandboxes, 100U);
  EXPECT_EQ(told.all.largest, 900 * kMib);
  EXPECT_GE(told.all.ninety_nine, 100 * kMib);
  EXPECT_LE(told.all.ninety_nine, 104 * kMib);
  EXPECT_EQ(told.all.half, told.all.ninety_nine);
  EXPECT_EQ(told.declare, 120 * kMib) << "110 to 114 MiB in steps of 10";
  EXPECT_EQ(told.too_early, "");
}

/// What we advise must not be told of as a mistake afterwards.
TEST(Survey, NeverAdvisesWhatNoVmmGetsAlongWith) {
  EXPECT_EQ(advice(so_many(20, 3)).declare, 70 * kMib);
}

TEST(Survey, SaysWhenItIsTooEarly) {
  EXPECT_EQ(advice(so_many(19, 100)).declare, std::nullopt);
  EXPECT_EQ(advice(so_many(19, 100)).too_early, "19 of at least 20 sandboxes measured");
  EXPECT_TRUE(advice(so_many(20, 100)).declare);
  const auto young = advice(so_many(1000, 100, kStart + kDay - 1));
  EXPECT_EQ(young.declare, std::nullopt);
  EXPECT_EQ(young.too_early, "measured for less than a day");
  EXPECT_EQ(young.all.sandboxes, 1000U);
}

TEST(Survey, LeavesOutWhatIsNotKnownOrKnownInPart) {
  Survey survey;
  survey.add(used(0), kStart);
  auto elsewhere = used(50);
  SandboxEvent event;
  event.kind = EventKind::raised;
  event.subject = info(ConditionName::charged_elsewhere).name;
  elsewhere.events = {event};
  survey.add(elsewhere, kStart);
  EXPECT_TRUE(survey.handlers().empty());
  elsewhere.events.front().subject = info(ConditionName::contested).name;
  survey.add(elsewhere, kStart);
  EXPECT_EQ(advice(survey).all.sandboxes, 1U) << "another condition says nothing of it";
}

TEST(Survey, TellsGuestsOfEachSizeAndHowItGrowsWithThem) {
  Survey survey;
  for (const std::uint64_t gib : {1U, 2U, 4U, 16U})
    survey.add(used(40 + 3 * gib, gib * kGib), kStart);
  survey.add(used(70, 0), kStart);
  const auto told = advice(survey);
  ASSERT_TRUE(told.growth);
  EXPECT_NEAR(static_cast<double>(*told.growth), 3.0 * kMib, 100);
  ASSERT_EQ(told.by_guest.size(), 5U);
  EXPECT_EQ(told.by_guest.begin()->first, 0U) << "whose RAM nobody knows";
  EXPECT_EQ(told.by_guest.rbegin()->first, 16 * kGib);
  EXPECT_EQ(told.by_guest.at(4 * kGib).largest, 52 * kMib);
}

TEST(Survey, OfEqualGuestsTellsNoGrowth) {
  EXPECT_EQ(advice(so_many(30, 100)).growth, std::nullopt);
}

TEST(Survey, SizesOfGuestsArePowersOfTwo) {
  EXPECT_EQ(guest_class(0), 0U);
  EXPECT_EQ(guest_class(1), 128 * kMib);
  EXPECT_EQ(guest_class(2 * kGib), 2 * kGib);
  EXPECT_EQ(guest_class(2 * kGib + 1), 4 * kGib);
  EXPECT_EQ(guest_class(~std::uint64_t{0}), guest_class(std::uint64_t{1} << 50));
}

TEST(Survey, TellsTheLeastAndTheMostThatWasDeclared) {
  Survey survey;
  auto one = used(50);
  one.overhead_declared = 0;
  survey.add(one, kStart);
  EXPECT_EQ(advice(survey).all.declared_most, 0U);
  for (const std::uint64_t mib : {200U, 160U, 350U}) {
    one.overhead_declared = mib * kMib;
    survey.add(one, kStart);
  }
  EXPECT_EQ(advice(survey).all.declared_least, 160 * kMib);
  EXPECT_EQ(advice(survey).all.declared_most, 350 * kMib);
}

TEST(Survey, HandlersAreBounded) {
  Survey survey;
  auto one = used(50);
  for (int i = 0; i < 1000; ++i) {
    one.handler = "handler-" + std::to_string(i);
    survey.add(one, kStart);
  }
  EXPECT_EQ(survey.handlers().size(), Survey::kMostHandlers + 1);
  const auto others = advice_of(survey, Survey::kOtherHandlers);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others.front().all.sandboxes, 1000 - Survey::kMostHandlers);
  EXPECT_EQ(advice_of(survey, "handler-0").size(), 1U);
  EXPECT_TRUE(advice_of(survey, "nobody").empty());
}

TEST(Survey, ThoseThatLiveCount) {
  std::map<std::string, SandboxHistory> all;
  for (int i = 0; i < 30; ++i) all[std::to_string(i)] = used(80);
  all["gone"] = used(4000);
  all["gone"].ended = kStart + 1;
  const auto told = advice(with_living(Survey(), all, kStart + 2 * kDay));
  EXPECT_EQ(told.all.sandboxes, 30U) << "the one that has ended was counted then";
  EXPECT_EQ(told.declare, 90 * kMib);
}

}  // namespace
}  // namespace kcg::test
