// SPDX-License-Identifier: Apache-2.0
#include "show/view_documents.hpp"

#include <utility>

#include "base/clock.hpp"
#include "show/amiss.hpp"
#include "show/documents_json.hpp"
#include "show/group_tree.hpp"

namespace kcg {

namespace {

using json_parts::Json;
using json_parts::put_known;

/// OCI: zero or less is unlimited.
Json amount(std::int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }

void put_pod(Json& object, const SandboxView& view) {
  Json pod;
  put_known(pod, "namespace", view.pod_namespace);
  put_known(pod, "name", view.pod_name);
  put_known(pod, "uid", view.pod_uid);
  if (!pod.empty()) object["pod"] = pod;
}

Json memory_json(const SandboxView& view) {
  Json memory;
  if (view.memory_used) memory["used_bytes"] = *view.memory_used;
  memory["limit_bytes"] = view.memory_limit ? Json(*view.memory_limit) : Json(nullptr);
  return memory;
}

Json conditions_json(const SandboxView& view) {
  Json array = Json::array();
  for (const auto& one : view.conditions) {
    Json object = json_parts::condition(one.condition);
    put_known(object, "since", one.since == 0 ? "" : rfc3339(one.since));
    array.push_back(object);
  }
  return array;
}

Json identity(const SandboxView& view) {
  Json object;
  object["sandbox"] = json_parts::text(view.id);
  put_pod(object, view);
  put_known(object, "handler", view.handler);
  object["engine"] = name(view.engine);
  return object;
}

Json overview(const SandboxView& view) {
  Json object = identity(view);
  if (!view.ignored.empty()) {
    object["ignored"] = json_parts::text(view.ignored);
    return object;
  }
  object["layout"] = name(view.layout);
  object["layout_source"] = name(view.layout_source);
  object["driver"] = name(view.driver);
  object["state"] = name(view.state);
  put_known(object, "hypervisor", name(view.hypervisor));
  object["vcpus"] = view.vcpus;
  if (view.shim_pid != 0) object["shim_pid"] = view.shim_pid;
  if (view.vmm_pid != 0) object["vmm_pid"] = view.vmm_pid;
  object["memory"] = memory_json(view);
  if (view.cpu_milli) object["cpu"]["used_milli"] = *view.cpu_milli;
  object["overhead"] = json_parts::overhead(view.overhead);
  if (view.overhead_used) object["overhead"]["used_bytes"] = *view.overhead_used;
  if (view.overhead_peak) object["overhead"]["peak_bytes"] = *view.overhead_peak;
  if (view.created != 0) put_known(object, "created", rfc3339(view.created));
  object["failing"] = failing(view);
  if (const auto lines = amiss(view); !lines.empty()) object["amiss"] = json_parts::texts(lines);
  object["conditions"] = conditions_json(view);
  return object;
}

Json thread_json(const ThreadView& thread) {
  Json object;
  object["pid"] = thread.pid;
  object["tid"] = thread.tid;
  object["role"] = name(thread.role);
  object["class"] = name(thread.cls);
  object["classified_by"] = name(thread.by);
  object["name"] = json_parts::text(thread.comm);
  object["cpu_usec"] = thread.cpu_usec;
  put_known(object, "group", thread.group_now);
  put_known(object, "wanted_group", thread.group_wanted);
  object["placed"] = thread.placed;
  return object;
}

Json group_json(const GroupView& group) {
  Json object;
  object["role"] = name(group.role);
  object["path"] = json_parts::text(group.path);
  object["hierarchies"] = json_parts::texts(group.hierarchies);
  object["type"] = name(group.type);
  object["exists"] = group.exists;
  object["limits"] = json_parts::text_map(group.limits);
  object["wanted"] = json_parts::text_map(group.wanted);
  if (group.memory_current) object["memory_bytes"] = *group.memory_current;
  return object;
}

Json container_json(const Container& container) {
  const auto& given = container.resources;
  Json object;
  object["id"] = json_parts::text(container.id);
  put_known(object, "name", container.name);
  object["source"] = name(container.source);
  object["stopped"] = container.stopped;
  put_known(object, "cgroups_path", container.cgroups_path);
  if (given.memory_limit) object["memory_limit_bytes"] = amount(*given.memory_limit);
  if (given.cpu_quota) object["cpu_quota_usec"] = amount(*given.cpu_quota);
  if (given.cpu_period) object["cpu_period_usec"] = *given.cpu_period;
  if (given.cpu_shares) object["cpu_shares"] = *given.cpu_shares;
  put_known(object, "cpus", given.cpus);
  put_known(object, "mems", given.mems);
  if (!given.hugepages.empty()) object["hugepages_bytes"] = given.hugepages;
  return object;
}

template <class Part>
Json array_of(const std::vector<Part>& parts, Json (*make)(const Part&)) {
  Json array = Json::array();
  for (const auto& part : parts) array.push_back(make(part));
  return array;
}

Json amounts_json(const PodAmounts& amounts, const char* memory, const char* cpu) {
  Json object;
  if (amounts.memory) object[memory] = *amounts.memory;
  if (amounts.cpu_milli) object[cpu] = *amounts.cpu_milli;
  return object;
}

/// Only what somebody said.
void put_asked(Json& object, const PodAsked& asked) {
  if (!asked.labels.empty()) object["labels"] = json_parts::text_map(asked.labels);
  if (!asked.requests_source.empty()) {
    auto& requests = object["pod_requests"];
    requests = amounts_json(asked.limits, "memory_limit_bytes", "cpu_limit_milli");
    if (asked.cpu_request_milli) requests["cpu_milli"] = *asked.cpu_request_milli;
    requests["source"] = asked.requests_source;
  }
  if (asked.overhead_source.empty()) return;
  object["pod_overhead"] = amounts_json(asked.overhead, "memory_bytes", "cpu_milli");
  object["pod_overhead"]["source"] = asked.overhead_source;
}

Json everything(const SandboxView& view) {
  Json object = overview(view);
  put_asked(object, view.asked);
  put_known(object, "pod_cgroup", view.pod_cgroup);
  if (!view.pod_limits.empty()) object["pod_limits"] = json_parts::text_map(view.pod_limits);
  put_known(object, "sandbox_cgroup", view.sandbox_cgroup);
  put_known(object, "overhead_cgroup", view.overhead_cgroup);
  object["containers"] = array_of(view.containers, container_json);
  object["groups"] = array_of(view.groups, group_json);
  object["threads"] = array_of(view.threads, thread_json);
  return object;
}

Json tree_json(const SandboxView& view) {
  Json object = identity(view);
  object["state"] = name(view.state);
  put_known(object, "pod_cgroup", view.pod_cgroup);
  if (!view.pod_limits.empty()) object["pod_limits"] = json_parts::text_map(view.pod_limits);
  object["groups"] = Json::array();
  object["elsewhere"] = Json::array();
  for (const auto& one : group_members(view)) {
    Json group;
    if (one.group != nullptr) group = group_json(*one.group);
    group["path"] = json_parts::text(one.path);
    group["as_desired"] = one.as_desired();
    group["members"] = Json::array();
    for (const auto* thread : one.threads) group["members"].push_back(thread_json(*thread));
    object[one.group != nullptr ? "groups" : "elsewhere"].push_back(group);
  }
  return object;
}

}  // namespace

std::string list_document(const std::vector<SandboxView>& views) {
  std::vector<Json> entries;
  for (const auto& view : views) entries.push_back(overview(view));
  return json_parts::document(std::move(entries), false);
}

std::string show_document(const SandboxView& view) {
  return json_parts::document({everything(view)}, true);
}

std::string tree_document(const std::vector<SandboxView>& views, bool one) {
  std::vector<Json> entries;
  for (const auto& view : views) entries.push_back(tree_json(view));
  return json_parts::document(std::move(entries), one);
}

std::string threads_document(const SandboxView& view) {
  Json object = identity(view);
  object["threads"] = array_of(view.threads, thread_json);
  return json_parts::document({object}, true);
}

}  // namespace kcg
