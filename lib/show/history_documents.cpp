// SPDX-License-Identifier: Apache-2.0
#include "show/history_documents.hpp"

#include <fmt/format.h>

#include <utility>

#include "show/documents_json.hpp"

namespace kcg {

namespace {

using json_parts::Json;
using json_parts::object_of;
using json_parts::put_known;
using json_parts::Reader;
using json_parts::time_text;

Json event_json(const SandboxEvent& event) {
  auto object = object_of(10);
  object["kind"] = name(event.kind);
  put_known(object, "subject", event.subject);
  put_known(object, "group", event.group);
  put_known(object, "from", event.from);
  put_known(object, "to", event.to);
  put_known(object, "text", event.text);
  if (event.kind == EventKind::raised || event.kind == EventKind::cleared)
    object["severity"] = name(event.severity);
  object["times"] = event.times;
  put_known(object, "first", time_text(event.first));
  put_known(object, "last", time_text(event.last));
  return object;
}

Json events_json(const SandboxHistory& history) {
  Json array = Json::array();
  for (const auto& event : history.events) array.push_back(event_json(event));
  return array;
}

Json history_json(const SandboxHistory& history) {
  auto object = object_of(14);
  object["sandbox"] = json_parts::text(history.id);
  Json pod;
  put_known(pod, "namespace", history.pod_namespace);
  put_known(pod, "name", history.pod_name);
  if (!pod.empty()) object["pod"] = std::move(pod);
  object["engine"] = name(history.engine);
  put_known(object, "pod_cgroup", history.pod_cgroup);
  put_known(object, "sandbox_cgroup", history.sandbox_cgroup);
  put_known(object, "created", time_text(history.created));
  put_known(object, "ended", time_text(history.ended));
  put_known(object, "handler", history.handler);
  if (history.overhead_declared > 0) object["overhead_declared_bytes"] = history.overhead_declared;
  if (history.overhead_peak > 0) {
    object["overhead_peak_bytes"] = history.overhead_peak;
    object["vmm_start_ticks"] = history.vmm_start;
  }
  if (history.guest_ram > 0) object["guest_ram_bytes"] = history.guest_ram;
  object["events"] = events_json(history);
  return object;
}

Result<SandboxEvent> event_from(const Json& object) {
  Reader in(object);
  SandboxEvent event;
  event.kind = in.one_of("kind", EventKind::ended);
  event.subject = in.text("subject");
  event.group = in.text("group");
  event.from = in.text("from");
  event.to = in.text("to");
  event.text = in.text("text");
  if (in.find("severity") != nullptr) event.severity = in.one_of("severity", Severity::error);
  event.times = in.count("times");
  event.first = in.time("first");
  event.last = in.time("last");
  if (!in.wrong().empty()) return fail(0, "an event: {}", in.wrong());
  return event;
}

Result<SandboxHistory> history_from(const Json& object) {
  Reader in(object);
  SandboxHistory history;
  history.id = in.text("sandbox");
  if (history.id.empty()) in.refuse("sandbox", "is missing");
  if (const auto* pod = in.find("pod")) {
    Reader of_pod(*pod);
    history.pod_namespace = of_pod.text("namespace");
    history.pod_name = of_pod.text("name");
    if (!of_pod.wrong().empty()) in.refuse("pod:", of_pod.wrong());
  }
  history.engine = in.one_of("engine", Engine::none);
  history.pod_cgroup = in.text("pod_cgroup");
  history.sandbox_cgroup = in.text("sandbox_cgroup");
  history.created = in.time("created");
  history.ended = in.time("ended");
  history.handler = in.text("handler");
  history.overhead_declared = in.number("overhead_declared_bytes");
  history.guest_ram = in.number("guest_ram_bytes");
  history.overhead_peak = in.number("overhead_peak_bytes");
  history.vmm_start = in.number("vmm_start_ticks");
  const auto& events = in.list("events");
  if (!in.wrong().empty()) return fail(0, "{}", in.wrong());
  for (const auto& one : events) {
    auto event = event_from(one);
    if (!event) return forward(event.error());
    history.events.push_back(*std::move(event));
  }
  return history;
}

}  // namespace

std::string history_document(const std::vector<SandboxHistory>& histories, bool one) {
  std::vector<Json> entries;
  for (const auto& history : histories) entries.push_back(history_json(history));
  return json_parts::document(std::move(entries), one);
}

std::string with_events(const std::string& show_document, const SandboxHistory& history) {
  auto top = Json::parse(show_document, nullptr, false);
  top["events"] = events_json(history);
  return top.dump(2) + "\n";
}

Result<std::vector<SandboxHistory>> parse_history_document(const std::string& text) {
  const auto top = Json::parse(text, nullptr, false);
  if (!top.is_object() || top.value("version", Json()) != 1)
    return fail(0, "not a document of version 1");
  const auto all = top.find("sandboxes");
  if (all != top.end() && !all->is_array()) return fail(0, "sandboxes is not a list");
  std::vector<SandboxHistory> histories;
  for (const auto& entry : all == top.end() ? Json::array({top}) : *all) {
    auto history = history_from(entry);
    if (!history) return forward(history.error());
    histories.push_back(*std::move(history));
  }
  return histories;
}

}  // namespace kcg
