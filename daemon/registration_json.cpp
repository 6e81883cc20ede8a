// SPDX-License-Identifier: Apache-2.0
#include "daemon/registration_json.hpp"

#include <nlohmann/json.hpp>

namespace kcg {

namespace {

using nlohmann::json;

template <class T>
void put(json& into, const char* key, const std::optional<T>& value) {
  if (value) into[key] = *value;
}

template <class T>
void take(const json& from, const char* key, std::optional<T>& value) {
  if (from.contains(key)) value = from.at(key).get<T>();
}

json task_json(const TaskKey& task) { return {{"pid", task.pid}, {"start", task.start}}; }

TaskKey task_from(const json& from) {
  return {from.at("pid").get<Pid>(), from.at("start").get<std::uint64_t>()};
}

json resources_json(const Resources& r) {
  json out = json::object();
  put(out, "memory", r.memory_limit);
  put(out, "quota", r.cpu_quota);
  put(out, "period", r.cpu_period);
  put(out, "shares", r.cpu_shares);
  out["cpus"] = r.cpus;
  out["mems"] = r.mems;
  out["hugepages"] = r.hugepages;
  return out;
}

Resources resources_from(const json& from) {
  Resources r;
  take(from, "memory", r.memory_limit);
  take(from, "quota", r.cpu_quota);
  take(from, "period", r.cpu_period);
  take(from, "shares", r.cpu_shares);
  r.cpus = from.at("cpus").get<std::string>();
  r.mems = from.at("mems").get<std::string>();
  r.hugepages = from.at("hugepages").get<std::map<std::string, std::uint64_t>>();
  return r;
}

Registration read(const json& from) {
  Registration r;
  take(from, "cgroups_path", r.cgroups_path);
  r.annotations = from.at("annotations").get<std::map<std::string, std::string>>();
  r.handler = from.at("handler").get<std::string>();
  r.pod = {from.at("pod_namespace").get<std::string>(), from.at("pod_name").get<std::string>(),
           from.at("pod_uid").get<std::string>()};
  if (from.contains("shim")) r.shim = task_from(from.at("shim"));
  if (from.contains("vmm")) r.vmm = task_from(from.at("vmm"));
  take(from, "memory_overhead", r.memory_overhead);
  take(from, "cpu_overhead_milli", r.cpu_overhead_milli);
  take(from, "sandbox_cgroup_only", r.sandbox_cgroup_only);
  r.since = from.value("since", std::int64_t{0});  // earlier versions did not note these two
  r.uid = from.value("uid", std::uint32_t{0});
  for (const auto& [id, resources] : from.at("containers").items())
    r.containers[id] = resources_from(resources);
  return r;
}

}  // namespace

json registration_to_json(const Registration& r) {
  json out = {{"annotations", r.annotations},
              {"handler", r.handler},
              {"pod_namespace", r.pod.ns},
              {"pod_name", r.pod.name},
              {"pod_uid", r.pod.uid},
              {"containers", json::object()},
              {"since", r.since},
              {"uid", r.uid}};
  put(out, "cgroups_path", r.cgroups_path);
  if (r.shim) out["shim"] = task_json(*r.shim);
  if (r.vmm) out["vmm"] = task_json(*r.vmm);
  put(out, "memory_overhead", r.memory_overhead);
  put(out, "cpu_overhead_milli", r.cpu_overhead_milli);
  put(out, "sandbox_cgroup_only", r.sandbox_cgroup_only);
  for (const auto& [id, resources] : r.containers)
    out["containers"][id] = resources_json(resources);
  return out;
}

std::optional<Registration> registration_from_json(const json& from) {
  // The file is our own, but anything may have happened to it: the library's exceptions end here.
  try {
    return read(from);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace kcg
