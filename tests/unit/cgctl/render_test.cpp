// SPDX-License-Identifier: Apache-2.0
//
// What the golden files do not show: hostile text, odd values, documents that are none.
#include "tools/cgctl/render.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "show/plan_documents.hpp"
#include "show/view.hpp"
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
  planned.explanations[0].inputs[0].value = "\x1b[2J";
  EXPECT_FALSE(has_control(render_plan({}, plan_document({planned}, true)).value()));
  EXPECT_FALSE(has_control(render_explain({}, explain_document({planned}, true)).value()));
}

TEST(RenderList, EveryLineHasTheSameNumberOfWordsInAPipe) {
  auto bare = SandboxView{};
  bare.id = "abcd";
  bare.pod_name = "two words";
  auto sound = samples::degraded();
  sound.threads.clear();
  sound.groups.clear();
  const auto text = render_list({}, {sound, samples::legacy(), bare});
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), 11U) << line;
}

Style terminal(std::size_t width) {
  Style style;
  style.width = width;
  style.now = 1'700'011'520;
  return style;
}

/// The longest names that Kubernetes takes.
SandboxView long_names() {
  auto view = samples::degraded();
  view.pod_namespace = std::string(63, 'n');
  view.pod_name = std::string(253, 'p');
  return view;
}

TEST(RenderList, FitsTheTerminal) {
  for (const std::size_t width : {40U, 80U, 200U}) {
    const auto style = terminal(width);
    auto sound = long_names();
    sound.threads.clear();
    sound.groups.clear();
    for (const auto& text : {render_list(style, {sound, samples::legacy()}),
                             render_ignored(style, {samples::ignored()})})
      for (const auto line : lines(text)) EXPECT_LE(columns_of(line), width) << line;
  }
}

TEST(RenderThreads, FitsEightyColumnsButForPaths) {
  const auto text = render_threads(terminal(80), samples::legacy());
  for (const auto line : lines(text)) EXPECT_LE(columns_of(line), 80U) << line;
}

TEST(RenderList, FiveHundredSandboxesHaveOneLineEach) {
  std::vector<SandboxView> views(500, samples::legacy());
  const auto text = render_list(terminal(80), views);
  EXPECT_EQ(lines(text).size(), 501U);
  EXPECT_EQ(render_answer(terminal(80), views, 500), "500 sandboxes, all as wanted.\n");
}

TEST(RenderList, AnswersForNoneAndOne) {
  EXPECT_EQ(render_list(terminal(80), {}), "");
  EXPECT_EQ(render_answer(terminal(80), {}, 0), "No sandbox runs here.\n");
  EXPECT_EQ(render_answer(terminal(80), {samples::legacy()}, 1), "1 sandbox, it is as wanted.\n");
  EXPECT_EQ(render_answer(terminal(80), {samples::degraded(), samples::legacy()}, 2),
            "2 sandboxes, 1 needs a look: cgctl show default/nginx\n");
  EXPECT_EQ(render_answer({}, {samples::legacy()}, 1), "") << "a pipe gets the table alone";
}

TEST(RenderList, SaysDriftedWhereNoConditionDoes) {
  auto view = samples::legacy();
  view.threads[0].group_now = "/elsewhere";
  view.threads[0].placed = false;
  const auto text = render_list(terminal(80), {view});
  EXPECT_NE(text.find("drifted"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  thread 78 (vcpu) is in /elsewhere"), std::string::npos) << text;
}

TEST(RenderTree, DrawsASandboxOfWhichNothingIsKnown) {
  SandboxView view;
  view.id = "abcd";
  EXPECT_EQ(render_tree({}, {view}),
            "abcd  discovered  (sandbox-only, cgroupfs driver)\n"
            "No thread of this sandbox runs.\n");
}

TEST(RenderTree, TheRootGroupIsAboveAllOthers) {
  auto view = samples::legacy();
  view.threads[0].group_now = "/";
  view.threads[0].placed = false;
  EXPECT_EQ(render_tree({}, {view}),
            "bare  01239999aaaa  placed  (legacy, systemd driver, cgroup v1)\n"
            "/   1 thread (1 vcpu)   not a group of this sandbox   78\n"
            "│  ! 78 vcpu0 (vcpu) belongs in the sandbox group\n"
            "├─ docker/kata_0123   at most 0.50 CPU\n"
            "└─ kata/0123   none\n"
            "1 thread, it is not where it belongs.\n");
}

TEST(RenderTree, RawShowsTheKernelsKeys) {
  Style style;
  style.raw = true;
  const auto text = render_tree(style, {samples::legacy()});
  EXPECT_NE(text.find("cpu.cfs_quota_us=50000"), std::string::npos) << text;
}

TEST(ShortPath, IsAsSeenFromTheSandboxGroup) {
  SandboxView view;
  view.sandbox_cgroup = "/pods/p1/kata-sandbox-x";
  EXPECT_EQ(short_path(view, "/pods/p1/kata-sandbox-x"), "the sandbox group");
  EXPECT_EQ(short_path(view, "/pods/p1/kata-sandbox-x/vcpu"), "vcpu");
  EXPECT_EQ(short_path(view, "/pods/p1/kata_9c"), "../kata_9c");
  EXPECT_EQ(short_path(view, "/pods/p1"), "the group above");
  EXPECT_EQ(short_path(view, "/pods/p10/y"), "/pods/p10/y");
  view.sandbox_cgroup = "/top";
  EXPECT_EQ(short_path(view, "/other"), "/other");
}

TEST(RenderPlan, NothingToDo) {
  auto planned = samples::planned_v2();
  planned.plan.steps.clear();
  planned.conditions.clear();
  const auto text = render_plan({}, plan_document({planned}, true));
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->ends_with("  Nothing to do.\n")) << *text;
  EXPECT_EQ(count_steps(plan_document({planned}, true)).value(), 0U);
}

TEST(RenderExplain, OneTopic) {
  const auto document = explain_document({samples::planned_v2()}, true);
  const auto memory = render_explain({}, document, "memory");
  ASSERT_TRUE(memory);
  EXPECT_NE(memory->find("memory.max of"), std::string::npos) << *memory;
  const auto cpu = render_explain({}, document, "cpu");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->find("memory.max of"), std::string::npos) << *cpu;
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
  EXPECT_TRUE(text->starts_with("7\n")) << *text;
}

TEST(CountSteps, CountsAllSandboxes) {
  EXPECT_EQ(count_steps(plan_document({samples::planned_v2()}, true)).value(), 3U);
  EXPECT_EQ(
      count_steps(plan_document({samples::planned_v2(), samples::planned_v1()}, false)).value(),
      5U);
}

TEST(Render, PathsWithinATextAreSeenFromTheGroup) {
  const auto seen = [](const std::string& text) { return seen_from("/pods/p1", "its pod", text); };
  EXPECT_EQ(seen("needs 1 GiB: /pods/p1"), "needs 1 GiB: its pod");
  EXPECT_EQ(seen("killed in '/pods/p1', once"), "killed in its pod, once");
  EXPECT_EQ(seen("'/pods/p1/kata_9c' and /pods/p1/x"), "'kata_9c' and x");
  for (const auto* other : {"/pods/p10", "/sys/fs/cgroup/pods/p1", "/pods/p1.slice", "/pods/p1/"})
    EXPECT_EQ(seen(other), other);
  EXPECT_EQ(seen_from("/", "the root", "/a and /"), "/a and /");
}

TEST(Render, AListInWhichAllIsWellSaysWhoLooksAfterIt) {
  EXPECT_EQ(render_answer(terminal(80), {samples::legacy()}, 1, "daemon running, enforcing"),
            "1 sandbox, it is as wanted (daemon running, enforcing).\n");
  EXPECT_EQ(render_answer(terminal(80), {samples::degraded()}, 1, "daemon running, enforcing"),
            "1 sandbox, 1 needs a look: cgctl show default/nginx\n");
}

}  // namespace
}  // namespace kcg::cgctl
