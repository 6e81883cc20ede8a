// SPDX-License-Identifier: Apache-2.0
//
// Prints one of our JSON documents, or a text of cgctl, made of the samples: what the schemas and
// the golden files are held against. usage: print-documents NAME
#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "daemon/manager.hpp"
#include "show/history_documents.hpp"
#include "show/plan_documents.hpp"
#include "show/survey_documents.hpp"
#include "show/view_documents.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/events.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/recommend.hpp"
#include "tools/cgctl/registrations.hpp"
#include "tools/cgctl/release.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/status.hpp"
#include "tools/cgctl/top/model.hpp"
#include "tools/cgctl/watch.hpp"
#include "unit/cgctl/sample_facts.hpp"

namespace {

using namespace kcg;
using samples::degraded;
using samples::histories;
using samples::ignored;
using samples::legacy;
using samples::planned_v1;
using samples::planned_v2;

const Error kError{static_cast<int>(ManagerError::no_such_sandbox), "no sandbox 'xyz1'"};

cgctl::Style terminal(std::size_t width = 80) {
  cgctl::Style style;
  style.width = width;
  style.now = 1'700'011'520;  // 3 h 12 min after the samples' start
  return style;
}

cgctl::Style pipe() {
  cgctl::Style style = terminal();
  style.width.reset();
  return style;
}

cgctl::Style ascii() {
  cgctl::Style style = terminal();
  style.utf8 = false;
  return style;
}

cgctl::Style raw() {
  cgctl::Style style = terminal();
  style.raw = true;
  return style;
}

cgctl::Style colored() {
  cgctl::Style style = terminal();
  style.color = true;
  return style;
}

/// What `list` prints.
std::string listing(const cgctl::Style& style, const std::vector<SandboxView>& views) {
  return cgctl::render_list(style, views) + cgctl::render_answer(style, views, views.size());
}

cgctl::DaemonState daemon() {
  cgctl::DaemonState state;
  state.running = true;
  state.version = "9.9";
  state.mode = "enforce";
  state.hierarchy = "v2";
  state.problems = {"process events: proc connector: refused; placed by the resync only"};
  state.parts = {{"bundles", "working"}, {"groups", "working"},          {"bus", "working"},
                 {"NRI", "working"},     {"process events", "fallback"}, {"systemd", "down"}};
  state.placements = cgctl::PlacementTimes{42, 4100, 12'200};
  state.process = cgctl::DaemonProcess{77, 266'400, 4'510'000, 12ULL << 20};
  return state;
}

cgctl::DaemonState dead() {
  cgctl::DaemonState state;
  state.why_not =
      "nobody owns io.katacontainers.CgroupManager1 on the bus 'system': is kata-cgroupd running?";
  return state;
}

std::string status_json(const std::vector<SandboxView>& views) {
  cgctl::Options options;
  options.json = true;
  return cgctl::status_answer(options, terminal(), daemon(), views).out;
}

std::string status(const cgctl::Style& style, const cgctl::DaemonState& state,
                   const std::vector<SandboxView>& views, bool brief = false) {
  cgctl::Options options;
  options.brief = brief;
  return cgctl::status_answer(options, style, state, views).out;
}

/// A line of `watch`.
std::string condition_line(const cgctl::Style& style, bool json = false) {
  cgctl::Options options;
  options.json = json;
  cgctl::Event event;
  event.kind = cgctl::Event::Kind::condition;
  event.id = samples::kFirstId;
  event.condition = "OomKilled";
  event.severity = "error";
  event.text = "the kernel killed the VMM";
  event.active = true;
  return cgctl::event_line(options, style, event, "default/nginx", 1'700'000'000);
}

/// Another one.
std::string happened_line(const cgctl::Style& style, bool json = false) {
  cgctl::Options options;
  options.json = json;
  cgctl::Event event;
  event.kind = cgctl::Event::Kind::happened;
  event.id = samples::kFirstId;
  event.history = histories()[0];
  event.history.events = {event.history.events.back()};
  return cgctl::event_line(options, style, event, "default/nginx", 1'700'000'000);
}

std::string show(const cgctl::Style& style, const SandboxView& view = degraded()) {
  return cgctl::render_show(style, view, cgctl::render_events(style, histories()[0]));
}

std::string doctor(const cgctl::Style& style, const cgctl::doctor::Facts& facts) {
  return cgctl::doctor::render(style, cgctl::doctor::diagnose(facts));
}

/// One whole, one of an earlier version that says little.
std::vector<RegisteredView> registered() {
  return {{samples::kFirstId,
           {"default", "nginx", "uid1"},
           "/kubepods/podU/s1",
           4200,
           4240,
           1'700'000'000,
           0},
          {samples::kSecondId, {}, "", 0, 0, 0, 1000}};
}

/// One that lives in groups of ours, one with an empty one.
std::vector<cgctl::HeldSandboxView> held() {
  return {{degraded(), {samples::kFirstId, {"/kubepods/podU/kata-sandbox-s1"}, 4, 16}},
          {legacy(), {samples::kSecondId, {"/kata/bare"}, 0, 0}}};
}

std::vector<cgctl::ReleasedView> released(bool whole) {
  std::vector<cgctl::ReleasedView> all = {{degraded(), {samples::kFirstId, 14, 4, {}}}};
  if (whole) return all;
  const auto* const why =
      "'cpu:/kata/bare' cannot be removed, for somebody is in it who is not "
      "proven to be the sandbox's: process 4711; move him where he belongs";
  all.push_back({legacy(), {samples::kSecondId, 3, 2, {why}}});
  return all;
}

/// One of v2, one of v1 that has just begun.
std::vector<cgctl::top::Rates> usage() {
  cgctl::top::Rates one;
  one.id = samples::kFirstId;
  one.title = "default/nginx";
  one.cpu_milli = 1204;
  one.throttled_permille = 310;
  one.memory_stall_permille = 12;
  one.cpu_stall_permille = 0;
  one.memory_used = 900 << 20;
  one.memory_limit = std::uint64_t{2} << 30;
  one.overhead_used = 181 << 20;
  one.overhead_declared = 160 << 20;
  one.class_milli = {1000, 150, 50, 4};
  cgctl::top::Rates other;
  other.id = samples::kSecondId;
  other.title = "bare";
  other.memory_used = 20 << 20;
  return {one, other};
}

cgctl::Titles titles() {
  return {{samples::kFirstId, "default/nginx"}, {samples::kSecondId, "bare"}};
}

std::string plan(const cgctl::Style& style) {
  const auto document = plan_document({planned_v2(), planned_v1()}, false);
  return cgctl::render_plan(style, document, titles()).value();
}

std::string explain(const cgctl::Style& style) {
  return cgctl::render_explain(style, explain_document({planned_v2()}, true), "", titles()).value();
}

/// What `list` knows without a closer look at each.
SandboxView listed(SandboxView view) {
  view.threads.clear();
  view.groups.clear();
  return view;
}

/// The longest names that Kubernetes takes.
SandboxView long_names(SandboxView view) {
  view.pod_namespace = std::string(63, 'n');
  view.pod_name = std::string(253, 'p');
  return view;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Groups as they are called on a node whose kubelet has systemd make them.
SandboxView deep_groups(SandboxView view) {
  const auto deep = [&](std::string& path) {
    path = replaced(path, "/kubepods/burstable/pod1",
                    "/kubepods.slice/kubepods-burstable.slice/"
                    "kubepods-burstable-pod1b9d6bcd_bbfd_4b2d_9b5d_ab8dfbbd4bed.slice");
    path = replaced(path, "kata-sandbox-0123456789abcdef", "kata-sandbox-" + view.id);
  };
  for (auto* path : {&view.pod_cgroup, &view.sandbox_cgroup}) deep(*path);
  for (auto& group : view.groups) deep(group.path);
  for (auto& thread : view.threads)
    for (auto* path : {&thread.group_now, &thread.group_wanted}) deep(*path);
  for (auto& one : view.conditions) deep(one.condition.text);
  return view;
}

const std::map<std::string, std::function<std::string()>> kDocuments = {
    {"list.json", [] { return list_document({listed(degraded()), listed(legacy()), ignored()}); }},
    {"list-empty.json", [] { return list_document({}); }},
    {"show.json", [] { return with_events(show_document(degraded()), histories()[0]); }},
    {"show-legacy.json", [] { return show_document(legacy()); }},
    {"tree.json", [] { return tree_document({degraded(), legacy()}, false); }},
    {"tree-one.json", [] { return tree_document({degraded()}, true); }},
    {"events.json", [] { return history_document(histories(), false); }},
    {"events-one.json", [] { return history_document({histories()[1]}, true); }},
    {"events-raw.tty", [] { return cgctl::render_past(raw(), histories()[0]); }},
    {"threads.json", [] { return threads_document(degraded()); }},
    {"plan.json", [] { return plan_document({planned_v2(), planned_v1()}, false); }},
    {"plan-one.json", [] { return plan_document({planned_v2()}, true); }},
    {"explain.json", [] { return explain_document({planned_v2(), planned_v1()}, false); }},
    {"explain-one.json", [] { return explain_document({planned_v2()}, true); }},
    {"error.json", [] { return cgctl::failure_text(kError, true, ""); }},
    {"error-note.json", [] { return cgctl::failure_text(kError, true, "no daemon"); }},
    {"status.json", [] { return status_json({degraded(), legacy()}); }},
    {"status-none.json", [] { return status_json({}); }},
    {"watch.json", [] { return condition_line(terminal(), true); }},
    {"watch-happened.json", [] { return happened_line(terminal(), true); }},
    {"list-failing.tty", [] { return listing(terminal(), {degraded(), legacy()}); }},
    {"show-raw.tty", [] { return cgctl::render_show(raw(), degraded()); }},
    {"show-legacy.tty", [] { return cgctl::render_show(terminal(), legacy()); }},
    {"tree-raw.tty", [] { return cgctl::render_tree(raw(), {degraded()}); }},
    {"tree.ascii", [] { return cgctl::render_tree(ascii(), {degraded()}); }},
    {"doctor.json",
     [] { return cgctl::doctor::document(cgctl::doctor::diagnose(samples::broken_node())); }},
    {"doctor.tty", [] { return doctor(terminal(), samples::sound_node()); }},
    {"doctor.pipe", [] { return doctor(pipe(), samples::broken_node()); }},
    {"doctor-broken.tty", [] { return doctor(terminal(), samples::broken_node()); }},
    {"doctor-broken-40.tty", [] { return doctor(terminal(40), samples::broken_node()); }},
    {"doctor-broken-200.tty", [] { return doctor(terminal(200), samples::broken_node()); }},
    {"doctor-color.tty", [] { return doctor(colored(), samples::broken_node()); }},
    {"doctor-nobody.tty", [] { return doctor(terminal(), samples::seen_by_nobody()); }},
    {"recommend.json", [] { return advice_document(advice_of(samples::survey(), "")); }},
    {"recommend-none.json", [] { return advice_document({}); }},
    {"recommend-unknown.tty", [] { return cgctl::render_advice(terminal(), {}, "kata-fc"); }},
    {"registrations.json", [] { return cgctl::registrations_document(registered()); }},
    {"registrations-one.tty",
     [] { return cgctl::render_registrations(terminal(), {registered()[1]}); }},
    {"uninstall.json", [] { return cgctl::held_document(held()); }},
    {"uninstall-empty.tty", [] { return cgctl::render_held(terminal(), {held()[1]}); }},
    {"uninstall-none.json", [] { return cgctl::held_document({}); }},
    {"uninstall-none.tty", [] { return cgctl::render_held(terminal(), {}); }},
    {"release.json", [] { return cgctl::released_document(released(false), false); }},
    {"release-one.json", [] { return cgctl::released_document(released(true), true); }},
    {"release-whole.tty", [] { return cgctl::render_released(terminal(), released(true)); }},
    {"release-none.tty", [] { return cgctl::render_released(terminal(), {}); }},
    {"top.json", [] { return cgctl::top::document(usage(), std::chrono::milliseconds(1004)); }},
    {"top-one.tty", [] { return cgctl::top::render(terminal(), {usage()[1]}); }},
};

using Render = std::function<std::string(const cgctl::Style&)>;

/// Texts that are held in every look.
const std::map<std::string, Render> kTexts = {
    {"events", [](const auto& style) { return cgctl::render_all_events(style, histories()); }},
    {"events-ended", [](const auto& style) { return cgctl::render_past(style, histories()[1]); }},
    {"events-none", [](const auto& style) { return cgctl::render_all_events(style, {}); }},
    {"explain", explain},
    {"ignored", [](const auto& style) { return cgctl::render_ignored(style, {ignored()}); }},
    {"list",
     [](const auto& style) { return listing(style, {listed(degraded()), listed(legacy())}); }},
    {"list-long",
     [](const auto& style) {
       return listing(style, {long_names(listed(degraded())), listed(legacy())});
     }},
    {"list-deep",
     [](const auto& style) { return listing(style, {deep_groups(degraded()), legacy()}); }},
    {"show-deep", [](const auto& style) { return show(style, deep_groups(degraded())); }},
    {"threads-deep",
     [](const auto& style) { return cgctl::render_threads(style, deep_groups(degraded())); }},
    {"tree-deep",
     [](const auto& style) { return cgctl::render_tree(style, {deep_groups(degraded())}); }},
    {"list-none", [](const auto& style) { return listing(style, {}); }},
    {"plan", plan},
    {"recommend",
     [](const auto& style) {
       return cgctl::render_advice(style, advice_of(samples::survey(), ""), "");
     }},
    {"recommend-none", [](const auto& style) { return cgctl::render_advice(style, {}, ""); }},
    {"registrations",
     [](const auto& style) { return cgctl::render_registrations(style, registered()); }},
    {"registrations-none",
     [](const auto& style) { return cgctl::render_registrations(style, {}); }},
    {"release", [](const auto& style) { return cgctl::render_released(style, released(false)); }},
    {"show", [](const auto& style) { return show(style); }},
    {"show-long", [](const auto& style) { return show(style, long_names(degraded())); }},
    {"status", [](const auto& style) { return status(style, daemon(), {degraded(), legacy()}); }},
    {"status-brief", [](const auto& style) { return status(style, daemon(), {legacy()}, true); }},
    {"status-dead", [](const auto& style) { return status(style, dead(), {legacy()}); }},
    {"status-none", [](const auto& style) { return status(style, daemon(), {}); }},
    {"threads", [](const auto& style) { return cgctl::render_threads(style, degraded()); }},
    {"top", [](const auto& style) { return cgctl::top::render(style, usage()); }},
    {"top-none", [](const auto& style) { return cgctl::top::render(style, {}); }},
    {"tree", [](const auto& style) { return cgctl::render_tree(style, {degraded(), legacy()}); }},
    {"tree-long",
     [](const auto& style) { return cgctl::render_tree(style, {long_names(degraded())}); }},
    {"tree-none", [](const auto& style) { return cgctl::render_tree(style, {}); }},
    {"uninstall", [](const auto& style) { return cgctl::render_held(style, held()); }},
    {"watch", [](const auto& style) { return condition_line(style); }},
    {"watch-happened", [](const auto& style) { return happened_line(style); }},
};

using Documents = std::map<std::string, std::function<std::string()>>;

Documents all_documents() {
  auto all = kDocuments;
  for (const auto& [name, render] : kTexts)
    for (const auto& [suffix, style] :
         {std::pair{".tty", terminal()}, std::pair{"-40.tty", terminal(40)},
          std::pair{"-200.tty", terminal(200)}, std::pair{"-color.tty", colored()},
          std::pair{".pipe", pipe()}})
      all.emplace(name + suffix, [render = render, style = style] { return render(style); });
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto documents = all_documents();
  if (argc == 1)
    for (const auto& [name, make] : documents) std::puts(name.c_str());
  if (argc != 2) return argc == 1 ? 0 : 2;
  const auto found = documents.find(argv[1]);
  if (found == documents.end()) return 2;
  const auto text = found->second();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
