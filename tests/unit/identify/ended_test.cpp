// SPDX-License-Identifier: Apache-2.0
#include "identify/ended.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kcg {

namespace {

const SandboxId kEnding = SandboxId::parse("S").value();

Observed seen(const std::vector<ProcessRole>& roles) {
  Observed observed;
  observed.inputs.id = kEnding;
  observed.inputs.bundle.emplace();
  for (const auto role : roles) {
    auto& process = observed.processes.emplace_back();
    process.role = role;
    process.facts.key = {100 + static_cast<Pid>(observed.processes.size()), 5000};
  }
  return observed;
}

void mark(Observed& observed, const std::string& id) {
  const GroupRef ref{"v2", CgroupPath::parse("/pod/kata-sandbox-S").value()};
  observed.groups[ref].ref = ref;
  observed.groups[ref].mark = id;
}

struct EndRow {
  const char* name;
  std::vector<ProcessRole> roles;
  EarlierLooks earlier;
  bool ended;
  void (*change)(Observed&) = [](Observed&) {};
};

class Ended : public testing::TestWithParam<EndRow> {};

TEST_P(Ended, IsDecided) {
  auto observed = seen(GetParam().roles);
  GetParam().change(observed);
  EXPECT_EQ(has_ended(observed, GetParam().earlier), GetParam().ended);
}

constexpr auto kShim = ProcessRole::shim;
constexpr auto kVmm = ProcessRole::vmm;
constexpr auto kRest = ProcessRole::descendant;
constexpr EarlierLooks kNever{};
constexpr EarlierLooks kProven{false, true};
constexpr EarlierLooks kOver{true, false};

const EndRow kEnds[] = {
    {"NotStartedYet", {}, kNever, false},
    {"ShimLives", {kShim}, kProven, false},
    {"VmmLives", {kVmm}, kProven, false},
    {"ShimComesBack", {kShim}, kOver, false},
    {"BothEnded", {}, kProven, true},
    {"OnlyHelpersLeft", {kRest}, kProven, true},
    {"StaysEnded", {}, kOver, true},
    {"MarkedGroupLeft", {}, kNever, true, [](Observed& o) { mark(o, "S"); }},
    {"SomebodyElsesMark", {}, kNever, false, [](Observed& o) { mark(o, "other"); }},
    {"NothingLeft", {}, kNever, true, [](Observed& o) { o.inputs.bundle.reset(); }},
    {"RegisteredOnly",
     {},
     kNever,
     false,
     [](Observed& o) {
       o.inputs.bundle.reset();
       o.inputs.registration.emplace();
     }},
    {"UnreadProcess", {}, kProven, false, [](Observed& o) { o.unread_processes = {"1: EIO"}; }},
    {"UnreadGroup", {}, kProven, false, [](Observed& o) { o.unread_groups = {"/a: EIO"}; }},
    {"UnreadAfterItsEnd", {}, kOver, true, [](Observed& o) { o.unread_groups = {"/a: EIO"}; }},
    {"StrangerInUnknown",
     {},
     kNever,
     false,
     [](Observed& o) {
       mark(o, "S");
       o.foreign.emplace_back();
     }},
    {"StrangerInKnown", {}, kProven, true, [](Observed& o) { o.foreign.emplace_back(); }},
    {"UnreadableBundle",
     {},
     kNever,
     false,
     [](Observed& o) {
       o.inputs.bundle.reset();
       o.inputs.unreadable = true;
     }},
};

INSTANTIATE_TEST_SUITE_P(All, Ended, testing::ValuesIn(kEnds),
                         [](const auto& tested) { return tested.param.name; });

struct UnmanagedRow {
  const char* name;
  std::vector<ProcessRole> roles;
  std::optional<std::uint64_t> since;
  bool unmanaged;
  void (*change)(Observed&) = [](Observed&) {};
};

class Unmanaged : public testing::TestWithParam<UnmanagedRow> {};

TEST_P(Unmanaged, IsDecided) {
  auto observed = seen(GetParam().roles);
  GetParam().change(observed);
  EXPECT_EQ(left_unmanaged(observed, GetParam().since), GetParam().unmanaged);
}

const UnmanagedRow kRows[] = {
    {"Everything", {kShim, kVmm}, std::nullopt, false},
    {"RanBefore", {kShim, kVmm}, 5001, true},
    {"StartedWithUs", {kShim, kVmm}, 5000, false},
    {"OnlyAShimBefore", {kShim}, 5001, false},
    {"NothingRuns", {}, 5001, false},
    {"Marked", {kVmm}, 5001, false, [](Observed& o) { mark(o, "S"); }},
    {"MarkedByOther", {kVmm}, 5001, true, [](Observed& o) { mark(o, "other"); }},
    {"MarkUnknown", {kVmm}, 5001, false, [](Observed& o) { o.unread_groups = {"/a: EIO"}; }},
    {"VmmInsideShim",
     {kShim},
     5001,
     true,
     [](Observed& o) { o.inputs.kata.emplace().hypervisor = "dragonball"; }},
};

INSTANTIATE_TEST_SUITE_P(All, Unmanaged, testing::ValuesIn(kRows),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace

}  // namespace kcg
