// SPDX-License-Identifier: Apache-2.0
#include "show/history_documents.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "show/documents_json.hpp"

namespace kcg {

namespace {

using json_parts::Json;
using json_parts::put_known;

std::string time_text(std::int64_t seconds) { return seconds == 0 ? "" : rfc3339(seconds); }

Json event_json(const SandboxEvent& event) {
  Json object;
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
  Json object;
  object["sandbox"] = json_parts::text(history.id);
  Json pod;
  put_known(pod, "namespace", history.pod_namespace);
  put_known(pod, "name", history.pod_name);
  if (!pod.empty()) object["pod"] = pod;
  object["engine"] = name(history.engine);
  put_known(object, "pod_cgroup", history.pod_cgroup);
  put_known(object, "sandbox_cgroup", history.sandbox_cgroup);
  put_known(object, "created", time_text(history.created));
  put_known(object, "ended", time_text(history.ended));
  if (history.overhead_peak > 0) {
    object["overhead_peak_bytes"] = history.overhead_peak;
    object["vmm_start_ticks"] = history.vmm_start;
  }
  object["events"] = events_json(history);
  return object;
}

/// One object of a document, read key by key; what is wrong first is remembered.
class Reader final {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object()) wrong_ = "is not an object";
  }

  [[nodiscard]] std::string text(const char* key) {
    const auto* value = find(key);
    if (value == nullptr) return "";
    if (!value->is_string()) return refuse(key, "is not text"), "";
    return value->get<std::string>();
  }
  [[nodiscard]] std::int64_t time(const char* key) {
    const auto given = text(key);
    if (given.empty()) return 0;
    const auto seconds = parse_rfc3339(given);
    if (!seconds) refuse(key, "is not a time");
    return seconds.value_or(0);
  }
  /// 0: it is not given.
  [[nodiscard]] std::uint64_t number(const char* key) {
    const auto* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_unsigned()) return refuse(key, "is not a number"), 0;
    return value->get<std::uint64_t>();
  }
  [[nodiscard]] unsigned count(const char* key) {
    const auto* value = find(key);
    if (value == nullptr || !value->is_number_unsigned()) return refuse(key, "is not a count"), 0;
    return value->get<unsigned>();
  }
  template <class Enum>
  [[nodiscard]] Enum one_of(const char* key, Enum last) {
    const auto given = text(key);
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
      if (given == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
    return refuse(key, "has an unknown value"), last;
  }
  [[nodiscard]] const Json* find(const char* key) const {
    const auto it = object_.is_object() ? object_.find(key) : object_.end();
    return it == object_.end() ? nullptr : &*it;
  }
  void refuse(const char* key, const char* why) {
    if (wrong_.empty()) wrong_ = fmt::format("{} {}", key, why);
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;
};

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
    if (!of_pod.wrong().empty()) in.refuse("pod:", of_pod.wrong().c_str());
  }
  history.engine = in.one_of("engine", Engine::none);
  history.pod_cgroup = in.text("pod_cgroup");
  history.sandbox_cgroup = in.text("sandbox_cgroup");
  history.created = in.time("created");
  history.ended = in.time("ended");
  history.overhead_peak = in.number("overhead_peak_bytes");
  history.vmm_start = in.number("vmm_start_ticks");
  const auto* events = in.find("events");
  if (events == nullptr || !events->is_array()) in.refuse("events", "is not a list");
  if (!in.wrong().empty()) return fail(0, "{}", in.wrong());
  for (const auto& one : *events) {
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
  return json_parts::document(entries, one);
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
