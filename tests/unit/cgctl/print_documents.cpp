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
#include "show/view_documents.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/events.hpp"
#include "tools/cgctl/failure.hpp"
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
  state.process = cgctl::DaemonProcess{77, 266'400, 4'510'000, 12ULL << 20};
  return state;
}

std::string status(bool json, const std::vector<SandboxView>& views) {
  cgctl::Options options;
  options.json = json;
  return cgctl::status_answer(options, terminal(), daemon(), views).out;
}

/// A line of `watch`.
std::string condition_line(bool json) {
  cgctl::Options options;
  options.json = json;
  cgctl::Event event;
  event.kind = cgctl::Event::Kind::condition;
  event.id = samples::kFirstId;
  event.condition = "OomKilled";
  event.severity = "error";
  event.text = "the kernel killed the VMM";
  event.active = true;
  return cgctl::event_line(options, terminal(), event, "default/nginx", 1'700'000'000);
}

std::string show(const cgctl::Style& style) {
  return cgctl::render_show(style, degraded(), cgctl::render_events(style, histories()[0]));
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
  cgctl::top::Rates one{samples::kFirstId, "default/nginx",       1204, {}, 310, 12, 0,
                        900 << 20,         std::uint64_t{2} << 30};
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

/// What `list` knows without a closer look at each.
SandboxView listed(SandboxView view) {
  view.threads.clear();
  view.groups.clear();
  return view;
}

/// The longest names that Kubernetes takes.
SandboxView long_names() {
  auto view = listed(degraded());
  view.pod_namespace = std::string(63, 'n');
  view.pod_name = std::string(253, 'p');
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
    {"events.pipe", [] { return cgctl::render_all_events(pipe(), histories()); }},
    {"events.tty", [] { return cgctl::render_all_events(terminal(), histories()); }},
    {"events-40.tty", [] { return cgctl::render_all_events(terminal(40), histories()); }},
    {"events-200.tty", [] { return cgctl::render_all_events(terminal(200), histories()); }},
    {"events-raw.tty", [] { return cgctl::render_past(raw(), histories()[0]); }},
    {"events-color.tty", [] { return cgctl::render_all_events(colored(), histories()); }},
    {"events-none.tty", [] { return cgctl::render_all_events(terminal(), {}); }},
    {"events-none.pipe", [] { return cgctl::render_all_events(pipe(), {}); }},
    {"events-ended.tty", [] { return cgctl::render_past(terminal(), histories()[1]); }},
    {"events-ended.pipe", [] { return cgctl::render_past(pipe(), histories()[1]); }},
    {"threads.json", [] { return threads_document(degraded()); }},
    {"plan.json", [] { return plan_document({planned_v2(), planned_v1()}, false); }},
    {"plan-one.json", [] { return plan_document({planned_v2()}, true); }},
    {"explain.json", [] { return explain_document({planned_v2(), planned_v1()}, false); }},
    {"explain-one.json", [] { return explain_document({planned_v2()}, true); }},
    {"error.json", [] { return cgctl::failure_text(kError, true, ""); }},
    {"error-note.json", [] { return cgctl::failure_text(kError, true, "no daemon"); }},
    {"status.json", [] { return status(true, {degraded(), legacy()}); }},
    {"status-none.json", [] { return status(true, {}); }},
    {"status.tty", [] { return status(false, {degraded(), legacy()}); }},
    {"watch.json", [] { return condition_line(true); }},
    {"watch.tty", [] { return condition_line(false); }},
    {"list.pipe", [] { return listing(pipe(), {listed(degraded()), listed(legacy())}); }},
    {"list.tty", [] { return listing(terminal(), {listed(degraded()), listed(legacy())}); }},
    {"list-40.tty", [] { return listing(terminal(40), {listed(degraded()), listed(legacy())}); }},
    {"list-200.tty", [] { return listing(terminal(200), {listed(degraded()), listed(legacy())}); }},
    {"list-failing.tty", [] { return listing(terminal(), {degraded(), legacy()}); }},
    {"list-color.tty", [] { return listing(colored(), {listed(degraded()), listed(legacy())}); }},
    {"list-long.tty", [] { return listing(terminal(), {long_names(), listed(legacy())}); }},
    {"list-long-40.tty", [] { return listing(terminal(40), {long_names(), listed(legacy())}); }},
    {"list-none.tty", [] { return listing(terminal(), {}); }},
    {"list-none.pipe", [] { return listing(pipe(), {}); }},
    {"ignored.pipe", [] { return cgctl::render_ignored(pipe(), {ignored()}); }},
    {"ignored.tty", [] { return cgctl::render_ignored(terminal(), {ignored()}); }},
    {"threads.pipe", [] { return cgctl::render_threads(pipe(), degraded()); }},
    {"threads.tty", [] { return cgctl::render_threads(terminal(), degraded()); }},
    {"threads-40.tty", [] { return cgctl::render_threads(terminal(40), degraded()); }},
    {"show.tty", [] { return show(terminal()); }},
    {"show-40.tty", [] { return show(terminal(40)); }},
    {"show-raw.tty", [] { return cgctl::render_show(raw(), degraded()); }},
    {"show-legacy.tty", [] { return cgctl::render_show(terminal(), legacy()); }},
    {"tree.tty", [] { return cgctl::render_tree(terminal(), {degraded(), legacy()}); }},
    {"tree-40.tty", [] { return cgctl::render_tree(terminal(40), {degraded()}); }},
    {"tree-raw.tty", [] { return cgctl::render_tree(raw(), {degraded()}); }},
    {"tree.ascii", [] { return cgctl::render_tree(ascii(), {degraded()}); }},
    {"plan.tty",
     [] {
       const auto document = plan_document({planned_v2(), planned_v1()}, false);
       return cgctl::render_plan(terminal(), document, titles()).value();
     }},
    {"doctor.json",
     [] {
       return cgctl::doctor::document(cgctl::doctor::diagnose(cgctl::samples::broken_node()));
     }},
    {"doctor.tty", [] { return doctor(terminal(), cgctl::samples::sound_node()); }},
    {"doctor.pipe", [] { return doctor(pipe(), cgctl::samples::broken_node()); }},
    {"doctor-broken.tty", [] { return doctor(terminal(), cgctl::samples::broken_node()); }},
    {"doctor-broken-40.tty", [] { return doctor(terminal(40), cgctl::samples::broken_node()); }},
    {"doctor-broken-200.tty", [] { return doctor(terminal(200), cgctl::samples::broken_node()); }},
    {"doctor-color.tty", [] { return doctor(colored(), cgctl::samples::broken_node()); }},
    {"doctor-nobody.tty", [] { return doctor(terminal(), cgctl::samples::seen_by_nobody()); }},
    {"registrations.json", [] { return cgctl::registrations_document(registered()); }},
    {"registrations.pipe", [] { return cgctl::render_registrations(pipe(), registered()); }},
    {"registrations.tty", [] { return cgctl::render_registrations(terminal(), registered()); }},
    {"registrations-40.tty",
     [] { return cgctl::render_registrations(terminal(40), registered()); }},
    {"registrations-200.tty",
     [] { return cgctl::render_registrations(terminal(200), registered()); }},
    {"registrations-one.tty",
     [] { return cgctl::render_registrations(terminal(), {registered()[1]}); }},
    {"registrations-none.tty", [] { return cgctl::render_registrations(terminal(), {}); }},
    {"registrations-none.pipe", [] { return cgctl::render_registrations(pipe(), {}); }},
    {"uninstall.json", [] { return cgctl::held_document(held()); }},
    {"uninstall.pipe", [] { return cgctl::render_held(pipe(), held()); }},
    {"uninstall.tty", [] { return cgctl::render_held(terminal(), held()); }},
    {"uninstall-40.tty", [] { return cgctl::render_held(terminal(40), held()); }},
    {"uninstall-empty.tty", [] { return cgctl::render_held(terminal(), {held()[1]}); }},
    {"uninstall-none.json", [] { return cgctl::held_document({}); }},
    {"uninstall-none.tty", [] { return cgctl::render_held(terminal(), {}); }},
    {"release.json", [] { return cgctl::released_document(released(false), false); }},
    {"release-one.json", [] { return cgctl::released_document(released(true), true); }},
    {"release.pipe", [] { return cgctl::render_released(pipe(), released(false)); }},
    {"release.tty", [] { return cgctl::render_released(terminal(), released(false)); }},
    {"release-40.tty", [] { return cgctl::render_released(terminal(40), released(false)); }},
    {"release-whole.tty", [] { return cgctl::render_released(terminal(), released(true)); }},
    {"release-none.tty", [] { return cgctl::render_released(terminal(), {}); }},
    {"top.json", [] { return cgctl::top::document(usage(), std::chrono::milliseconds(1004)); }},
    {"top.pipe", [] { return cgctl::top::render(pipe(), usage()); }},
    {"top.tty", [] { return cgctl::top::render(terminal(), usage()); }},
    {"top-40.tty", [] { return cgctl::top::render(terminal(40), usage()); }},
    {"top-200.tty", [] { return cgctl::top::render(terminal(200), usage()); }},
    {"top-color.tty", [] { return cgctl::top::render(colored(), usage()); }},
    {"top-one.tty", [] { return cgctl::top::render(terminal(), {usage()[1]}); }},
    {"top-none.tty", [] { return cgctl::top::render(terminal(), {}); }},
    {"top-none.pipe", [] { return cgctl::top::render(pipe(), {}); }},
    {"explain.tty",
     [] {
       const auto document = explain_document({planned_v2()}, true);
       return cgctl::render_explain(terminal(), document, "", titles()).value();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1)
    for (const auto& [name, make] : kDocuments) std::puts(name.c_str());
  if (argc != 2) return argc == 1 ? 0 : 2;
  const auto found = kDocuments.find(argv[1]);
  if (found == kDocuments.end()) return 2;
  const auto text = found->second();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
