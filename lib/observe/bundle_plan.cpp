// SPDX-License-Identifier: Apache-2.0
#include "observe/bundle_plan.hpp"

#include <filesystem>

#include "base/dir.hpp"
#include "identify/recognise.hpp"
#include "layout/layout.hpp"
#include "observe/sandbox.hpp"
#include "oci/bundle_json.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"

namespace kcg {

namespace {

constexpr const char* kV2Controllers = "cpuset cpu io memory pids";

Result<Bundle> read_bundle(const std::string& directory, std::size_t max_bytes) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(directory, error).lexically_normal();
  const auto clean = absolute.has_filename() ? absolute : absolute.parent_path();
  const auto dir = Dir::open(clean.string());
  if (!dir) return forward(dir.error());
  const auto text = dir->read("config.json", max_bytes);
  if (!text) return forward(text.error(), clean.string());
  return parse_bundle(*text,
                      {BundleOrigin::Root::any, "", clean.filename().string(), clean.string()});
}

Host assumed_host(HierarchyMode mode) {
  Host host;
  host.mode = mode;
  if (mode == HierarchyMode::v2) {
    host.hierarchies = {{"v2", {"cpuset", "cpu", "io", "memory", "pids"}, true, "/sys/fs/cgroup"}};
    return host;
  }
  for (const auto* name :
       {"cpu", "cpuacct", "cpuset", "memory", "blkio", "pids", "hugetlb", "perf_event"})
    host.hierarchies.push_back({name, {name}, false, fmt::format("/sys/fs/cgroup/{}", name)});
  return host;
}

/// The groups that kubelet and Kata would have made.
void add_parents(Observed& observed) {
  const auto& path = observed.cgroups_path;
  if (!path) return;
  std::vector<CgroupPath> groups = {CgroupPath(), path->pod};
  if (path->driver == Driver::systemd) groups.push_back(path->full);
  for (const auto& h : observed.host.hierarchies) {
    for (const auto& parent : groups) {
      GroupState state;
      state.ref = {h.name, parent};
      if (h.unified) state.files["cgroup.controllers"] = kV2Controllers;
      if (h.has("cpuset") && !h.unified) state.files = {{"cpuset.cpus", "0"}, {"cpuset.mems", "0"}};
      observed.groups[state.ref] = state;
    }
  }
}

}  // namespace

Result<Planned> plan_bundles(const Config& config, const std::vector<std::string>& directories,
                             HierarchyMode assumed) {
  std::vector<Bundle> bundles;
  for (const auto& directory : directories) {
    auto bundle = read_bundle(directory, config.limits.max_bundle_bytes);
    if (!bundle) return forward(bundle.error());
    bundles.push_back(std::move(*bundle));
  }
  if (bundles.empty()) return fail(0, "no bundle directory was given");
  if (bundles.front().type == BundleType::container)
    return fail(0, "{}: is a container of sandbox '{}'; give the sandbox's bundle first",
                bundles.front().directory, bundles.front().sandbox_id);
  const auto id = SandboxId::parse(bundles.front().sandbox_id);
  if (!id) return forward(id.error(), bundles.front().directory);

  const auto assembled = assemble(*id, bundles);
  if (!assembled.ignored.empty()) return fail(0, "{}", assembled.ignored.front().why);
  auto observed = hearsay(assumed_host(assumed), assembled);
  observed.assumed = true;
  observed.proven_kata = true;
  observed.history.container_started = true;
  add_parents(observed);

  Planned planned{id->str(), assumed, desired(config, observed),
                  {},        {},      explanations(config, observed)};
  if (!planned.desired.act)
    return fail(0, "{}: cannot be placed: {}", bundles.front().directory,
                planned.desired.waiting_for);
  planned.plan = diff(observed, planned.desired);
  planned.conditions = planned.desired.conditions;
  return planned;
}

}  // namespace kcg
