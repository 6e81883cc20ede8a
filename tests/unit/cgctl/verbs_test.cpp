// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/verbs.hpp"

#include <gtest/gtest.h>

#include "show/plan_documents.hpp"
#include "show/survey_documents.hpp"
#include "show/view.hpp"
#include "show/view_documents.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/events.hpp"

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
  [[nodiscard]] Result<std::string> recommend(const std::string& handler) override {
    return advice_document(advice_of(samples::survey(), handler));
  }
  [[nodiscard]] Result<std::vector<SandboxHistory>> events(const std::string& id) override {
    if (no_events) return fail(0, "unknown method Events");
    std::vector<SandboxHistory> found;
    for (const auto& history : samples::histories())
      if (id.empty() || history.id == id) found.push_back(history);
    return found;
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
  bool no_events = false;
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

TEST(List, LabelsSelectWhoHasAllOfThem) {
  const auto shows = [](std::vector<std::string> labels) {
    FakeSource source;
    auto o = options(Verb::list);
    o.labels = std::move(labels);
    const auto answer = look(o, {}, source);
    return answer && answer->out.find("default/nginx") != std::string::npos;
  };
  const auto sample = samples::degraded();
  const auto& [key, value] = *sample.asked.labels.begin();
  EXPECT_TRUE(shows({key}));
  EXPECT_TRUE(shows({key + "=" + value}));
  EXPECT_TRUE(shows({key, key + "=" + value}));
  EXPECT_FALSE(shows({key + "=" + value + "x"}));
  EXPECT_FALSE(shows({key + "="}));
  EXPECT_FALSE(shows({key, "no-such-label"}));
  EXPECT_FALSE(shows({""}));
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

TEST(Show, TellsWhatHappened) {
  FakeSource source;
  const auto told = look(options(Verb::show, samples::kFirstId), {}, source);
  ASSERT_TRUE(told);
  EXPECT_NE(told->out.find("What happened"), std::string::npos);
  EXPECT_NE(told->out.find("repaired"), std::string::npos);
  source.no_events = true;  // a daemon that does not know them yet
  const auto without = look(options(Verb::show, samples::kFirstId), {}, source);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->out.find("What happened"), std::string::npos);
}

TEST(Show, OfOneThatHasEndedItTellsWhy) {
  FakeSource source;
  for (const auto* name : {"shop/cart-0", "cart-0", samples::kGoneId, "4567"}) {
    for (const auto verb : {Verb::show, Verb::events}) {
      const auto told = look(options(verb, name), {}, source);
      ASSERT_TRUE(told) << name;
      EXPECT_NE(told->out.find("The last that was wrong: OomKilled"), std::string::npos) << name;
    }
    EXPECT_FALSE(look(options(Verb::threads, name), {}, source)) << name;
  }
  EXPECT_FALSE(look(options(Verb::show, "nobody"), {}, source));
  source.no_events = true;
  const auto unknown = look(options(Verb::show, "cart-0"), {}, source);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text.find("no sandbox 'cart-0'"), std::string::npos);
}

TEST(Events, OfSeveralOfOneNameTheLastIsMeant) {
  auto earlier = samples::histories()[1];
  auto later = earlier;
  later.id = "later";
  later.ended += 10;
  const auto lives = samples::histories()[0];
  EXPECT_EQ(find_ended({earlier, later, lives}, "cart-0")->id, "later");
  EXPECT_EQ(find_ended({later, earlier, lives}, "cart-0")->id, "later");
  EXPECT_EQ(find_ended({later, earlier, lives}, earlier.id)->id, earlier.id);
  EXPECT_EQ(find_ended({later, earlier, lives}, "nginx"), nullptr) << "it lives";
}

}  // namespace
}  // namespace kcg::cgctl
