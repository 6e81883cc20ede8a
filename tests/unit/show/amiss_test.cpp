// SPDX-License-Identifier: Apache-2.0
#include "show/amiss.hpp"

#include <gtest/gtest.h>

namespace kcg::test {
namespace {

struct Row {
  const char* name;
  void (*change)(SandboxView&);
  std::vector<std::string> lines;
};
class Amiss : public testing::TestWithParam<Row> {};

/// A placed sandbox with one group and two threads in it.
SandboxView sound() {
  SandboxView view;
  view.state = SandboxState::placed;
  GroupView group;
  group.path = "/p/s/vcpu";
  group.exists = true;
  group.limits = {{"cpu.max", "50000 100000"}};
  view.groups = {group};
  ThreadView thread;
  thread.tid = 7;
  thread.cls = ThreadClass::vcpu;
  thread.group_now = thread.group_wanted = group.path;
  thread.placed = true;
  view.threads = {thread, thread};
  view.threads[1].tid = 8;
  return view;
}

TEST_P(Amiss, IsSaid) {
  auto view = sound();
  GetParam().change(view);
  EXPECT_EQ(amiss(view), GetParam().lines);
  EXPECT_EQ(failing(view), !GetParam().lines.empty());
}

void move_away(ThreadView& thread) {
  thread.group_now = "/elsewhere";
  thread.placed = false;
}

const Row kRows[] = {
    {"nothing", [](SandboxView&) {}, {}},
    {"a_thread_elsewhere",
     [](SandboxView& view) { move_away(view.threads[0]); },
     {"thread 7 (vcpu) is in /elsewhere, not in /p/s/vcpu"}},
    {"two_threads_elsewhere",
     [](SandboxView& view) {
       for (auto& thread : view.threads) move_away(thread);
     },
     {"thread 7 (vcpu) is in /elsewhere, not in /p/s/vcpu, and 1 more"}},
    {"a_thread_that_belongs_nowhere",
     [](SandboxView& view) {
       view.threads[0].placed = false;
       view.threads[0].group_wanted = "";
     },
     {}},
    {"a_limit_not_in_force",
     [](SandboxView& view) { view.groups[0].wanted["cpu.max"] = "max 100000"; },
     {"cpu.max of /p/s/vcpu is '50000 100000', not 'max 100000'"}},
    {"a_missing_group",
     [](SandboxView& view) { view.groups[0].exists = false; },
     {"group /p/s/vcpu is missing"}},
    {"degraded",
     [](SandboxView& view) {
       view.state = SandboxState::degraded;
       move_away(view.threads[0]);
     },
     {"thread 7 (vcpu) is in /elsewhere, not in /p/s/vcpu"}},
    {"not_placed_yet",
     [](SandboxView& view) {
       view.state = SandboxState::discovered;
       move_away(view.threads[0]);
     },
     {}},
    {"unmanaged",
     [](SandboxView& view) {
       view.state = SandboxState::unmanaged;
       move_away(view.threads[0]);
     },
     {}},
    {"removing",
     [](SandboxView& view) {
       view.state = SandboxState::removing;
       view.groups[0].exists = false;
     },
     {}},
};
INSTANTIATE_TEST_SUITE_P(Plan, Amiss, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace kcg::test
