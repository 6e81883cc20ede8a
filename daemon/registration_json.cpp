// SPDX-License-Identifier: Apache-2.0
#include "daemon/registration_json.hpp"

#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>

#include "oci/json_view.hpp"

namespace kcg {

namespace {

using nlohmann::json;

template <class T>
void put(json& into, const char* key, const std::optional<T>& value) {
  if (value) into[key] = *value;
}

json task_json(const TaskKey& task) {
  return {{"pid", static_cast<std::uint32_t>(task.pid)}, {"start", task.start}};
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

std::optional<TaskKey> task_from(const JsonView& in) {
  if (!in.present()) return std::nullopt;
  const auto pid = in.u32("pid").value_or(0);
  if (pid == 0 || pid > std::numeric_limits<Pid>::max())
    in.problem("pid", "missing, or not a process");
  return TaskKey{static_cast<Pid>(pid), in.u64("start").value_or(0)};
}

std::map<std::string, std::string> texts_from(const JsonView& in) {
  std::map<std::string, std::string> out;
  for (const auto& key : in.keys())
    if (auto text = in.text(key)) out[key] = *std::move(text);
  return out;
}

Resources resources_from(const JsonView& in) {
  Resources r;
  r.memory_limit = in.i64("memory");
  r.cpu_quota = in.i64("quota");
  r.cpu_period = in.u64("period");
  r.cpu_shares = in.u64("shares");
  r.cpus = in.text("cpus").value_or("");
  r.mems = in.text("mems").value_or("");
  const auto sizes = in.object("hugepages");
  for (const auto& size : sizes.keys())
    if (const auto bytes = sizes.u64(size)) r.hugepages[size] = *bytes;
  return r;
}

Registration read(const JsonView& in) {
  Registration r;
  r.cgroups_path = in.text("cgroups_path");
  r.annotations = texts_from(in.required("annotations"));
  r.handler = in.text("handler").value_or("");
  r.pod = {in.text("pod_namespace").value_or(""), in.text("pod_name").value_or(""),
           in.text("pod_uid").value_or("")};
  r.shim = task_from(in.object("shim"));
  r.vmm = task_from(in.object("vmm"));
  r.memory_overhead = in.u64("memory_overhead");
  r.cpu_overhead_milli = in.u32("cpu_overhead_milli");
  r.sandbox_cgroup_only = in.boolean("sandbox_cgroup_only");
  r.since = in.i64("since").value_or(0);  // earlier versions did not note these two
  r.uid = in.u32("uid").value_or(0);
  const auto containers = in.required("containers");
  for (const auto& id : containers.keys()) r.containers[id] = resources_from(containers.object(id));
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

Result<Registration> registration_from_json(const json& from) {
  JsonProblem problem;
  auto registration = read(JsonView(from, problem));
  if (!problem.text.empty()) return fail(EINVAL, "{}", problem.text);
  return registration;
}

}  // namespace kcg
