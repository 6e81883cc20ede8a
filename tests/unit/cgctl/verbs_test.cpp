// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/verbs.hpp"

#include <gtest/gtest.h>

#include "show/plan_documents.hpp"
#include "show/view.hpp"
#include "show/view_documents.hpp"
#include "support/sample_views.hpp"

namespace kcg::cgctl {
namespace {

/// Knows two sandboxes and one ignored bundle.
class FakeSource final : public Source {
 public:
  [[nodiscard]] Result<std::vector<SandboxView>> list(bool ignored) override {
    std::vector<SandboxView> views = {samples::degraded(), samples::legacy()};
    if (ignored) views.push_back(samples::ignored());
    return views;
  }
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override {
    if (id == samples::kFirstId) return samples::degraded();
    if (id == samples::kSecondId && !drifts) return samples::legacy();
    if (id == samples::kSecondId) return looks++ < repaired_after ? drifted() : sound();
    return fail(0, "no sandbox '{}'", id);
  }
  [[nodiscard]] Result<std::string> plan(const std::string& id) override {
    if (broken) return "not a document";
    auto planned = samples::planned_v2();
    if (settled) planned.plan.steps.clear();
    return plan_document({planned}, !id.empty());
  }
  [[nodiscard]] Result<std::string> explain(const std::string& id) override {
    return explain_document({samples::planned_v2()}, !id.empty());
  }
  void wait_for_repairs() override { ++waits; }
  [[nodiscard]] static SandboxView sound() {
    auto view = samples::legacy();
    view.state = SandboxState::placed;
    for (auto& group : view.groups) {
      group.exists = true;
      group.wanted.clear();
    }
    view.threads.clear();
    return view;
  }
  [[nodiscard]] static SandboxView drifted() {
    auto view = sound();
    ThreadView thread;
    thread.tid = 7;
    thread.cls = ThreadClass::vcpu;
    thread.group_now = "/elsewhere";
    thread.group_wanted = "/here";
    view.threads = {thread};
    return view;
  }
  bool drifts = false;
  int repaired_after = 100, looks = 0, waits = 0;
  bool settled = false;
  bool broken = false;
};

Options options(Verb verb, const std::string& id = "") {
  Options o;
  o.verb = verb;
  o.id = id;
  return o;
}

TEST(List, FailingShowsOnlyThoseAndSaysSoByItsStatus) {
  FakeSource source;
  auto o = options(Verb::list);
  const auto all = look(o, {}, source);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->exit, Exit::good);
  EXPECT_NE(all->out.find("default/nginx"), std::string::npos);
  EXPECT_NE(all->out.find("bare"), std::string::npos);
  EXPECT_EQ(all->out.find("proxy"), std::string::npos);
  o.failing = true;
  const auto failing = look(o, {}, source);
  ASSERT_TRUE(failing);
  EXPECT_EQ(failing->exit, Exit::something_wrong);
  EXPECT_NE(failing->out.find("default/nginx"), std::string::npos);
  EXPECT_EQ(failing->out.find("bare"), std::string::npos);
}

TEST(List, AThreadOutOfItsGroupFailsAndIsNamed) {
  FakeSource source;
  source.drifts = true;
  auto o = options(Verb::list);
  o.failing = true;
  const auto shown = look(o, {}, source);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->exit, Exit::something_wrong);
  EXPECT_NE(shown->out.find("thread 7 (vcpu) is in /elsewhere, not in /here"), std::string::npos)
      << shown->out;
  EXPECT_EQ(source.waits, 1);
}

TEST(List, WhatIsRepairedAtOnceDoesNotFail) {
  FakeSource source;
  source.drifts = true;
  source.repaired_after = 1;
  auto o = options(Verb::list);
  o.failing = true;
  const auto shown = look(o, {}, source);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->out.find("bare"), std::string::npos) << shown->out;
}

TEST(List, AllAddsIgnoredBundlesWithTheReason) {
  FakeSource source;
  auto o = options(Verb::list);
  o.all = true;
  const auto text = look(o, {}, source);
  ASSERT_TRUE(text);
  EXPECT_NE(text->out.find("IGNORED"), std::string::npos);
  EXPECT_NE(text->out.find("no proof that this is Kata's"), std::string::npos);
  o.json = true;
  const auto json = look(o, {}, source);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->out, list_document({samples::degraded(), samples::legacy(), samples::ignored()}));
}

TEST(Tree, OneOrAll) {
  FakeSource source;
  auto o = options(Verb::tree);
  o.json = true;
  EXPECT_EQ(look(o, {}, source)->out,
            tree_document({samples::degraded(), samples::legacy()}, false));
  o.id = samples::kSecondId;
  EXPECT_EQ(look(o, {}, source)->out, tree_document({samples::legacy()}, true));
}

TEST(Look, ErrorsComeThrough) {
  FakeSource source;
  for (const auto verb : {Verb::show, Verb::tree, Verb::threads}) {
    const auto answer = look(options(verb, "nope"), {}, source);
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().text.starts_with("no sandbox 'nope': ")) << answer.error().text;
  }
}

TEST(Verbs, ASandboxIsNamedByItsPod) {
  FakeSource source;
  for (const auto* name : {"default/nginx", "nginx", "0123456", samples::kFirstId}) {
    const auto shown = look(options(Verb::show, name), {}, source);
    ASSERT_TRUE(shown) << name;
    EXPECT_NE(shown->out.find("default/nginx"), std::string::npos) << name;
    EXPECT_TRUE(reason(options(Verb::explain, name), {}, source)) << name;
  }
}

TEST(Plan, JsonIsTheDocumentItself) {
  FakeSource source;
  auto o = options(Verb::plan);
  o.json = true;
  EXPECT_EQ(reason(o, {}, source)->out, plan_document({samples::planned_v2()}, false));
  o.verb = Verb::explain;
  o.id = samples::kFirstId;
  EXPECT_EQ(reason(o, {}, source)->out, explain_document({samples::planned_v2()}, true));
}

TEST(Plan, DetailedExitStatus) {
  FakeSource source;
  auto o = options(Verb::plan);
  EXPECT_EQ(reason(o, {}, source)->exit, Exit::good);
  o.detailed_exit = true;
  EXPECT_EQ(reason(o, {}, source)->exit, Exit::something_wrong);
  o.json = true;
  EXPECT_EQ(reason(o, {}, source)->exit, Exit::something_wrong);
  source.settled = true;
  EXPECT_EQ(reason(o, {}, source)->exit, Exit::good);
}

TEST(Plan, ADocumentThatIsNoneIsAnError) {
  FakeSource source;
  source.broken = true;
  EXPECT_FALSE(reason(options(Verb::plan), {}, source));
}

TEST(Verbs, WhichOnesNeedTheDaemon) {
  for (const auto verb :
       {Verb::reconcile, Verb::register_sandbox, Verb::unregister_sandbox, Verb::reload})
    EXPECT_TRUE(changes_something(verb));
  for (const auto verb :
       {Verb::status, Verb::list, Verb::show, Verb::tree, Verb::threads, Verb::plan, Verb::explain})
    EXPECT_FALSE(changes_something(verb));
}

}  // namespace
}  // namespace kcg::cgctl
