// SPDX-License-Identifier: Apache-2.0
//
// What the golden files do not show: hostile text, odd values, documents that are none.
#include "tools/cgctl/render.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "plan/view.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {
namespace {

bool has_control(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return true;
  return false;
}

SandboxView hostile() {
  auto view = samples::degraded();
  view.pod_name = "\x1b]0;owned\x07";
  view.handler = "a\nb";
  view.conditions[0].condition.text = "\x1b[2J";
  view.containers[0].name = "\r\x1b[A";
  view.groups[0].path = "/pod\x1b[1m";
  view.groups[0].wanted["memory.max"] = "\x1b[2J";
  for (auto& thread : view.threads) {
    thread.comm = "\x1b[31mvcpu";
    thread.group_now = "/x\x1b[m";
    thread.placed = false;
  }
  return view;
}

TEST(Render, HostileNamesCannotDriveTheTerminal) {
  const auto view = hostile();
  EXPECT_FALSE(has_control(render_list({}, {view})));
  EXPECT_FALSE(has_control(render_show({}, view)));
  EXPECT_FALSE(has_control(render_tree({}, {view})));
  EXPECT_FALSE(has_control(render_threads({}, view)));
  auto planned = samples::planned_v2();
  planned.conditions[0].text = "\x1b[2J";
  planned.desired.explanations[0].inputs[0].value = "\x1b[2J";
  EXPECT_FALSE(has_control(render_plan({}, plan_document({planned}, true)).value()));
  EXPECT_FALSE(has_control(render_explain({}, explain_document({planned}, true)).value()));
}

TEST(RenderList, EveryLineHasTheSameNumberOfWordsInAPipe) {
  auto bare = SandboxView{};
  bare.id = "abcd";
  const auto text = render_list({}, {samples::degraded(), samples::legacy(), bare});
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), 10U) << line;
}

TEST(RenderList, FitsEightyColumns) {
  Style style;
  style.width = 80;
  style.now = 1'700'011'520;
  for (const auto& text :
       {render_list(style, {samples::degraded(), samples::legacy()}),
        render_threads(style, samples::degraded()), render_ignored(style, {samples::ignored()})})
    for (const auto line : lines(text)) EXPECT_LE(columns_of(line), 80U) << line;
}

TEST(RenderTree, DrawsASandboxOfWhichNothingIsKnown) {
  SandboxView view;
  view.id = "abcd";
  EXPECT_EQ(render_tree({}, {view}), "sandbox abcd\n  sandbox-only, discovered\n");
}

TEST(RenderTree, TheRootGroupIsAboveAllOthers) {
  auto view = samples::legacy();
  view.threads[0].group_now = "/";
  view.threads[0].placed = false;
  EXPECT_EQ(render_tree({}, {view}),
            "sandbox 01239999aaaabbbbccccddddeeeeffff01239999aaaabbbbccccddddeeeeffff\n"
            "  bare, legacy, placed\n"
            "/  not a group of this sandbox\n"
            "│  1 vcpu 78\n"
            "│  ! 78 vcpu0 (vcpu) belongs in /docker/kata_0123\n"
            "├─ docker/kata_0123  [constrained]  cpu.cfs_quota_us=50000\n"
            "└─ kata/0123  [unconstrained]\n");
}

TEST(RenderPlan, NothingToDo) {
  auto planned = samples::planned_v2();
  planned.plan.steps.clear();
  planned.conditions.clear();
  const auto text = render_plan({}, plan_document({planned}, true));
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->ends_with("  nothing to do\n")) << *text;
  EXPECT_EQ(count_steps(plan_document({planned}, true)).value(), 0U);
}

TEST(RenderPlan, RefusesWhatIsNoDocument) {
  for (const auto* text : {"", "[]", "{}", "null", "{\"version\":2}", "{\"version\":", "\xff"}) {
    EXPECT_FALSE(render_plan({}, text)) << text;
    EXPECT_FALSE(render_explain({}, text)) << text;
    EXPECT_FALSE(count_steps(text)) << text;
  }
}

TEST(RenderPlan, PassesOverWhatItDoesNotKnow) {
  const auto text = render_plan({}, R"({"version":1,"sandbox":7,"steps":"none","new":{}})");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("sandbox 7"), std::string::npos) << *text;
}

TEST(CountSteps, CountsAllSandboxes) {
  EXPECT_EQ(count_steps(plan_document({samples::planned_v2()}, true)).value(), 3U);
  EXPECT_EQ(
      count_steps(plan_document({samples::planned_v2(), samples::planned_v1()}, false)).value(),
      5U);
}

}  // namespace
}  // namespace kcg::cgctl
