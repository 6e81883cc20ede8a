// SPDX-License-Identifier: Apache-2.0
#include "support/hostile.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/layout.hpp"
#include "oci/cgroups_path.hpp"

namespace kcg::test {

namespace {

constexpr std::array<std::string_view, 8> kIds = {"abc123",    "web.scope", "kata_abc123", "vcpu",
                                                  "x-1.slice", "a",         "cpu.x",       "0"};
constexpr std::array<std::string_view, 24> kPaths = {
    "/kubepods/burstable/pod1/{}",
    "/kubepods/burstable/pod1/{}/",
    "kubepods-burstable-pod1.slice:cri-containerd:{}",
    "kubepods-burstable-pod1.slice:crio:{}",
    "system.slice:docker:{}",
    "-.slice:x:{}",
    "/docker/{}",
    "default/{}",
    "{}",
    "/{}",
    "",
    ".",
    "/",
    "/../../etc/{}",
    "/system.slice/{}",
    "/kubepods.slice/kubepods-pod1.slice/{}",
    "/kata_vc/{}",
    "/kata/{}",
    "/kata_overhead/{}",
    "/kubepods/burstable/pod1/kata-sandbox-{}/x",
    "/a/kata_{}/b",
    "a--b.slice:x:{}",
    "x.slice:a/b:{}",
    "::",
};
constexpr std::array<std::string_view, 33> kGroups = {
    "/",
    "/kubepods",
    "/kubepods/burstable",
    "/kubepods/burstable/pod1",
    "/kubepods/burstable/pod1/kata_{}",
    "/kubepods/burstable/pod1/kata-sandbox-{}",
    "/kubepods/burstable/pod2/kata-sandbox-{}",
    "/kubepods.slice",
    "/kubepods.slice/kubepods-burstable.slice",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
    "cri-containerd-{}.scope",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
    "cri-containerd-{}.scope/"
    "kata-sandbox-{}",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/kata-sandbox-{}.scope",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/kata_cri-containerd-{}",
    "/system.slice",
    "/system.slice/docker-{}.scope",
    "/system.slice/kata-sandbox-{}",
    "/system.slice/kata-sandbox-{}.scope",
    "/docker",
    "/docker/kata_{}",
    "/docker/kata-sandbox-{}",
    "/vc",
    "/vc/default",
    "/vc/default/kata-sandbox-{}",
    "/vc/kata-sandbox-{}",
    "/kata_vc",
    "/kata_vc/kata-sandbox-{}",
    "/kata",
    "/kata/{}",
    "/kata_overhead",
    "/kata_overhead/{}",
    "/kata.slice/kata-{}.scope",
    "/kata-sandbox-{}",
};
constexpr std::array<std::string_view, 5> kBelow = {"", "/vcpu", "/io", "/vmm", "/shim"};
constexpr std::array<std::string_view, 15> kFiles = {"cgroup.type",
                                                     "cgroup.controllers",
                                                     "cgroup.subtree_control",
                                                     "cpuset.cpus",
                                                     "cpuset.mems",
                                                     "memory.max",
                                                     "memory.current",
                                                     "memory.limit_in_bytes",
                                                     "memory.usage_in_bytes",
                                                     "cpu.max",
                                                     "cpu.weight",
                                                     "cpu.shares",
                                                     "cpu.cfs_quota_us",
                                                     "cpu.cfs_period_us",
                                                     "pids.max"};
constexpr std::array<std::string_view, 20> kTexts = {"",
                                                     "max",
                                                     "max 100000",
                                                     "-1",
                                                     "0",
                                                     "1",
                                                     "1000",
                                                     "100000",
                                                     "4096",
                                                     "1610612736",
                                                     "9223372036854771712",
                                                     "18446744073709551616",
                                                     "0-3",
                                                     "0-1,3",
                                                     "3-1",
                                                     "cpuset cpu io memory pids",
                                                     "cpu",
                                                     "threaded",
                                                     "domain invalid",
                                                     "\x01 nonsense"};

/// Makes one Hostile value.
class Forger final {
 public:
  explicit Forger(const Choose& choose) : choose_(choose) {}

  Hostile forge() {
    id_ = std::string(pick(kIds));
    config();
    host();
    inputs();
    for (std::uint64_t i = choose_(5); i > 0; --i) observed_.processes.push_back(process());
    for (std::uint64_t i = choose_(3); i > 0; --i) observed_.foreign.push_back(process());
    for (std::uint64_t i = choose_(24); i > 0; --i) group();
    flags();
    return {std::move(config_), std::move(observed_)};
  }

 private:
  template <std::size_t N>
  std::string_view pick(const std::array<std::string_view, N>& from) {
    return from[choose_(N)];
  }
  bool chance(std::uint64_t one_in) { return choose_(one_in) == 0; }
  template <class E>
  E pick_enum(std::uint64_t count) {
    return static_cast<E>(choose_(count));
  }

  std::string fill(std::string_view pattern) {
    std::string text(pattern);
    for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}"))
      text.replace(at, 2, id_);
    return text;
  }

  void config() {
    config_.placement.thread_groups = !chance(4);
    if (chance(2)) config_.layout.sandbox_cgroup_only = chance(2);
    config_.layout.allow_annotation = chance(2);
    if (chance(4)) config_.layout.legacy_root = chance(2) ? "/kata_overhead" : "/a/b";
    config_.sizing.memory = pick_enum<MemorySizing>(3);
    config_.sizing.vcpu_quota = !chance(4);
  }

  void host() {
    auto& host = observed_.host;
    host.mode = pick_enum<HierarchyMode>(3);
    if (host.unified()) {
      host.hierarchies = {
          {"v2", {"cpuset", "cpu", "io", "memory", "pids"}, true, "/sys/fs/cgroup"}};
      return;
    }
    for (const char* name : {"cpuacct", "cpuset", "memory", "blkio", "pids", "hugetlb"})
      if (!chance(6)) host.hierarchies.push_back({name, {name}, false, "/sys/fs/cgroup/x"});
    host.hierarchies.push_back({"cpu", {"cpu"}, false, "/sys/fs/cgroup/cpu"});
  }

  Resources resources() {
    Resources one;
    if (chance(2)) one.memory_limit = static_cast<std::int64_t>(choose_(1ULL << 40)) - 1;
    if (chance(2)) one.cpu_quota = static_cast<std::int64_t>(choose_(1'000'000)) - 1;
    if (chance(2)) one.cpu_period = choose_(200'000);
    if (chance(2)) one.cpu_shares = choose_(300'000);
    if (chance(3)) one.cpus = std::string(pick(kTexts));
    if (chance(3)) one.mems = std::string(pick(kTexts));
    return one;
  }

  Bundle bundle(BundleType type) {
    Bundle one;
    one.id = id_;
    one.sandbox_id = id_;
    one.directory = "/run/bundle/" + id_;
    one.type = type;
    one.engine = pick_enum<Engine>(3);
    one.cgroups_path = fill(pick(kPaths));
    one.resources = resources();
    if (chance(3)) one.overhead_annotation = std::string(pick(kTexts));
    if (chance(4)) one.pinning_annotation = chance(2) ? "true" : chance(2) ? "0" : "perhaps";
    if (chance(3)) one.layout_annotation = chance(2) ? "true" : chance(2) ? "false" : "maybe";
    if (chance(4)) one.total_memory = choose_(1ULL << 50);
    return one;
  }

  void inputs() {
    auto& inputs = observed_.inputs;
    inputs.id = SandboxId::parse(id_).value();
    if (!chance(8)) inputs.bundle = bundle(pick_enum<BundleType>(3));
    for (std::uint64_t i = choose_(3); i > 0; --i)
      inputs.containers.push_back(bundle(BundleType::container));
    if (chance(2)) {
      inputs.kata.emplace();
      inputs.kata->hypervisor = chance(3) ? "dragonball" : chance(3) ? "remote" : "qemu";
      if (chance(2)) inputs.kata->sandbox_cgroup_only = chance(2);
      if (chance(2)) inputs.kata->vcpus_pinning = chance(2);
    }
    if (chance(4)) {
      inputs.registration.emplace();
      if (chance(2)) inputs.registration->cgroups_path = fill(pick(kPaths));
      if (chance(2)) inputs.registration->sandbox_cgroup_only = chance(2);
      if (chance(2)) inputs.registration->pod.uid = "u";
    }
    if (chance(3)) inputs.kata_config_only = chance(2);
    if (chance(3)) inputs.kata_config_pins = chance(2);
    observed_.cgroups_path = cgroups_path_of(inputs);
  }

  TaskKey key() { return {static_cast<Pid>(1 + choose_(12)), choose_(3)}; }

  /// Mostly where the sandbox's groups would be, else anywhere.
  std::string some_group() {
    const auto& path = observed_.cgroups_path;
    if (path && !chance(3)) {
      std::vector<CgroupPath> near = kata_paths(observed_.inputs.id, *path);
      near.push_back(path->pod);
      near.push_back(path->pod.parent());
      near.push_back(path->full);
      for (const auto& [form, top] : candidate_paths(config_, observed_.inputs.id, *path)) {
        near.push_back(top);
        near.push_back(class_path(top, pick_enum<ThreadClass>(4)));
      }
      return std::string(near[choose_(near.size())].str());
    }
    return fill(pick(kGroups)) + (chance(3) ? std::string(pick(kBelow)) : std::string());
  }

  Process process() {
    Process one;
    one.facts.key = key();
    one.facts.kernel_thread = chance(10);
    one.role = pick_enum<ProcessRole>(4);
    one.hypervisor = pick_enum<Hypervisor>(8);
    for (std::uint64_t i = choose_(5); i > 0; --i) {
      Thread thread;
      thread.facts.key = i == 1 ? one.facts.key : key();
      thread.cls = pick_enum<ThreadClass>(4);
      thread.by = pick_enum<ClassSource>(6);
      auto places = chance(6) ? choose_(3) : observed_.host.hierarchies.size();
      for (; places > 0; --places)
        thread.facts.groups.push_back(chance(8) ? std::string(pick(kTexts)) : some_group());
      one.threads.push_back(std::move(thread));
    }
    return one;
  }

  void group() {
    const auto path = CgroupPath::parse(some_group());
    if (!path) return;
    const auto& h = observed_.host.hierarchies[choose_(observed_.host.hierarchies.size())];
    GroupState state;
    state.ref = {h.name, *path};
    if (chance(2)) state.files["cgroup.controllers"] = "cpuset cpu io memory pids";
    if (chance(2)) state.files["cpuset.cpus"] = state.files["cpuset.mems"] = "0-3";
    const auto mark = choose_(4);
    if (mark < 2) state.mark = mark == 0 ? id_ : "somebody-else";
    state.mark_earlier = state.mark && chance(4);
    state.occupied = !state.mark && chance(2);
    for (std::uint64_t i = choose_(8); i > 0; --i)
      state.files[std::string(pick(kFiles))] = std::string(pick(kTexts));
    if (chance(8)) devices(state.devices);
    observed_.groups.insert_or_assign(state.ref, state);
  }

  void devices(DevicePolicy& policy) {
    policy.flags = static_cast<std::uint32_t>(choose_(3));
    for (std::uint32_t id = 1; id < 5; ++id)
      if (chance(2)) policy.programs.push_back(id);
    if (chance(8)) policy.unreadable = "EPERM";
  }

  void flags() {
    observed_.proven_kata = !chance(5);
    observed_.gone = chance(6);
    observed_.unmanaged = chance(8);
    observed_.creation_recorded = chance(2);
    observed_.assumed = chance(10);
    if (chance(10)) observed_.pending = PendingJob{"kata-sandbox-" + id_ + ".scope", chance(50)};
    if (chance(4))
      observed_.fixed =
          FixedLayout{pick_enum<Layout>(2), pick_enum<LayoutSource>(6), pick_enum<Form>(5)};
    observed_.history.container_started = chance(2);
    if (chance(3)) observed_.history.largest_memory_sum = choose_(1ULL << 40);
    observed_.vmm_age_ms = choose_(10'000);
  }

  const Choose& choose_;
  std::string id_;
  Config config_;
  Observed observed_;
};

}  // namespace

Hostile hostile(const Choose& choose) { return Forger(choose).forge(); }

}  // namespace kcg::test
