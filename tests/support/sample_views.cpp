// SPDX-License-Identifier: Apache-2.0
#include "support/sample_views.hpp"

#include "show/plan_documents.hpp"

namespace kcg::samples {

namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr const char* kPod = "/kubepods/burstable/pod1";
constexpr const char* kGroup = "/kubepods/burstable/pod1/kata-sandbox-0123456789abcdef";
constexpr std::int64_t kStart = 1'700'000'000;  // 2023-11-14T22:13:20Z

ThreadView thread(Pid pid, Pid tid, ThreadClass cls, const char* comm, const std::string& now,
                  const std::string& wanted) {
  ThreadView view;
  view.pid = pid;
  view.tid = tid;
  view.role = cls == ThreadClass::shim ? ProcessRole::shim : ProcessRole::vmm;
  view.cls = cls;
  view.by = cls == ThreadClass::vcpu ? ClassSource::kvm : ClassSource::role;
  view.comm = comm;
  view.cpu_usec = static_cast<std::uint64_t>(tid) * 10'000;
  view.group_now = now;
  view.group_wanted = wanted;
  view.placed = now == wanted;
  return view;
}

GroupView group(GroupRole role, const std::string& path, GroupType type) {
  GroupView view;
  view.role = role;
  view.path = path;
  view.type = type;
  view.hierarchies = {"v2"};
  view.exists = true;
  return view;
}

std::string below(const char* name) { return std::string(kGroup) + "/" + name; }

std::vector<GroupView> v2_groups() {
  auto sandbox = group(GroupRole::sandbox, kGroup, GroupType::domain);
  sandbox.limits = {{"memory.max", "max"}};
  sandbox.wanted = {{"memory.max", "1172307968"}};
  sandbox.memory_current = 512 * kMiB;
  auto vcpu = group(GroupRole::vcpu, below("vcpu"), GroupType::threaded);
  vcpu.limits = {{"cpu.max", "150000 100000"}, {"cpu.weight", "200"}};
  auto shim = group(GroupRole::shim, below("shim"), GroupType::threaded);
  shim.exists = false;
  return {sandbox, vcpu, group(GroupRole::io, below("io"), GroupType::threaded),
          group(GroupRole::vmm, below("vmm"), GroupType::threaded), shim};
}

PodAsked asked() {
  PodAsked pod;
  pod.overhead = {160 * kMiB, 250};
  pod.overhead_source = "nri";
  pod.cpu_request_milli = 1500;
  pod.limits = {512 * kMiB, 1500};
  pod.requests_source = "nri";
  pod.labels = {{"app", "nginx"}};
  return pod;
}

std::vector<Container> containers() {
  Container app;
  app.id = "aaaa1111";
  app.name = "app";
  app.source = ResourceSource::kata_state;
  app.cgroups_path = "/kubepods/burstable/pod1/aaaa1111";
  app.resources.memory_limit = static_cast<std::int64_t>(512 * kMiB);
  app.resources.cpu_quota = 150'000;
  app.resources.cpu_period = 100'000;
  app.resources.cpu_shares = 1536;
  app.resources.cpus = "0-1,4";
  app.resources.mems = "0";
  app.resources.hugepages = {{"2MB", 4 * kMiB}};
  Container helper;
  helper.id = "bbbb2222";
  helper.name = "init";
  helper.stopped = true;
  helper.resources.memory_limit = -1;
  return {app, helper};
}

CgroupPath path(const std::string& text) { return CgroupPath::parse(text).value(); }

WantedGroup wanted(GroupRole role, const char* hierarchy, const std::string& where,
                   GroupType type) {
  WantedGroup one;
  one.role = role;
  one.ref = {hierarchy, path(where)};
  one.type = type;
  return one;
}

Step step(const char* hierarchy, const std::string& where, Operation operation) {
  return {{hierarchy, path(where)}, std::move(operation)};
}

Explanation memory_explanation() {
  Explanation one;
  one.subject = "memory.max of sandbox";
  one.value = "1172307968";
  one.formula = "S + O = (536870912 + 268435456) + 367001600 = 1172307968";
  one.inputs = {{"container app", "536870912", "kata-state"},
                {"memory overhead", "367001600 (350 MiB)", "annotation"},
                {"other sources",
                 "pod none, handler \"kata\" 350 MiB, default 350 MiB; the larger of annotation "
                 "and pod counts, then handler, default",
                 "configuration (default)"}};
  one.change = "the containers' limits or the annotation";
  return one;
}

}  // namespace

SandboxView degraded() {
  SandboxView view;
  view.id = kFirstId;
  view.pod_namespace = "default";
  view.pod_name = "nginx";
  view.pod_uid = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";
  view.handler = "kata";
  view.engine = Engine::containerd;
  view.layout_source = LayoutSource::kata_state;
  view.state = SandboxState::degraded;
  view.pod_cgroup = kPod;
  view.pod_limits = {{"cpu.max", "175000 100000"}, {"memory.max", "1073741824"}};
  view.sandbox_cgroup = kGroup;
  view.hypervisor = Hypervisor::qemu;
  view.shim_pid = 4200;
  view.vmm_pid = 4240;
  view.vcpus = 2;
  view.overhead = {350 * kMiB, 250, OverheadSource::annotation};
  view.overhead_used = 181 * kMiB;
  view.overhead_peak = 190 * kMiB;
  view.cpu_milli = 1024;
  view.memory_used = 512 * kMiB;
  view.memory_limit = 1118 * kMiB;
  view.created = kStart;
  view.threads = {
      thread(4200, 4200, ThreadClass::shim, "containerd-shim", below("vmm"), below("shim")),
      thread(4240, 4240, ThreadClass::vmm, "qemu-system-x86", below("vmm"), below("vmm")),
      thread(4240, 4241, ThreadClass::vcpu, "CPU 0/KVM", below("vcpu"), below("vcpu")),
      thread(4240, 4242, ThreadClass::vcpu, "CPU 1/KVM", kPod, below("vcpu"))};
  view.groups = v2_groups();
  view.containers = containers();
  view.asked = asked();
  view.conditions = {
      {{ConditionName::parent_undersized, "have 1 GiB, need 1118 MiB: /kubepods/burstable/pod1"},
       kStart + 60},
      {{ConditionName::quota_clamped, "150000 to 100000"}, 0}};
  return view;
}

SandboxView legacy() {
  SandboxView view;
  view.id = kSecondId;
  view.pod_name = "bare";
  view.layout = Layout::legacy;
  view.layout_source = LayoutSource::config;
  view.driver = Driver::systemd;
  view.state = SandboxState::placed;
  view.pod_cgroup = "/docker";
  view.sandbox_cgroup = "/docker/kata_0123";
  view.overhead_cgroup = "/kata/0123";
  view.hypervisor = Hypervisor::cloud_hypervisor;
  view.vmm_pid = 77;
  view.vcpus = 1;
  view.overhead = {120 * kMiB, 250, OverheadSource::default_value};
  auto constrained = group(GroupRole::constrained, view.sandbox_cgroup, GroupType::v1);
  constrained.hierarchies = {"cpu,cpuacct", "cpuset"};
  constrained.limits = {{"cpu.cfs_quota_us", "50000"}};
  auto rest = group(GroupRole::unconstrained, view.overhead_cgroup, GroupType::v1);
  rest.hierarchies = {"cpu,cpuacct", "cpuset", "memory"};
  view.groups = {constrained, rest};
  view.threads = {
      thread(77, 78, ThreadClass::vcpu, "vcpu0", view.sandbox_cgroup, view.sandbox_cgroup)};
  return view;
}

Survey survey() {
  Survey survey;
  SandboxHistory one;
  one.created = kStart;
  one.overhead_declared = 350 * kMiB;
  const auto add = [&](const char* handler, std::uint64_t gib, unsigned count) {
    one.handler = handler;
    one.guest_ram = gib * 1024 * kMiB;
    for (unsigned i = 0; i < count; ++i) {
      one.overhead_peak = (50 + 3 * gib + i % 40) * kMiB;
      survey.add(one, kStart + 60 * 60 * 24 * 9);
    }
  };
  add("kata-qemu", 2, 180);
  add("kata-qemu", 16, 40);
  one.overhead_declared = 160 * kMiB;
  add("kata-qemu", 8, 1);
  add("kata-clh", 2, 3);
  return survey;
}

std::vector<SandboxHistory> histories() {
  SandboxHistory lives;
  lives.id = kFirstId;
  lives.pod_namespace = "default";
  lives.pod_name = "nginx";
  lives.engine = Engine::containerd;
  lives.pod_cgroup = kPod;
  lives.sandbox_cgroup = kGroup;
  lives.created = kStart;
  lives.events = {{EventKind::placed, "", "", "", "", "16 threads, 4.1 ms after the last vCPU",
                   Severity::info, kStart, kStart, 1},
                  {EventKind::limit_changed, "memory.max", kGroup, "903872512", "1172307968", "",
                   Severity::info, kStart + 60, kStart + 60, 1},
                  {EventKind::repaired, "", below("vcpu"), kPod, "4242", "", Severity::info,
                   kStart + 900, kStart + 7200, 2},
                  {EventKind::repaired, "cpu.max", below("vcpu"), "50000 100000", "100000 100000",
                   "", Severity::info, kStart + 3600, kStart + 11508, 3}};
  SandboxHistory gone;
  gone.id = kGoneId;
  gone.pod_namespace = "shop";
  gone.pod_name = "cart-0";
  gone.engine = Engine::crio;
  gone.pod_cgroup = "/kubepods/pod9";
  gone.sandbox_cgroup = "/kubepods/pod9/kata-sandbox-4567";
  gone.created = kStart - 86'400;
  gone.ended = kStart + 7920;
  gone.events = {
      {EventKind::raised, "OomKilled", "", "", "",
       "the kernel killed 1 process in '/kubepods/pod9/kata-sandbox-4567'", Severity::error,
       kStart + 7918, kStart + 7918, 1},
      {EventKind::ended, "", "", "", "", "", Severity::info, kStart + 7920, kStart + 7920, 1}};
  return {lives, gone};
}

SandboxView ignored() {
  SandboxView view;
  view.id = "ffff0000ffff0000ffff0000ffff0000";
  view.pod_namespace = "kube-system";
  view.pod_name = "proxy";
  view.engine = Engine::containerd;
  view.ignored = "no proof that this is Kata's";
  return view;
}

Planned planned_v2() {
  Planned planned;
  planned.id = kFirstId;
  Desired& wish = planned.desired;
  wish.layout_source = LayoutSource::kata_state;
  wish.pod_cgroup = path(kPod);
  wish.sandbox_cgroup = path(kGroup);
  wish.act = true;
  wish.overhead = {350 * kMiB, 250, OverheadSource::annotation};
  auto sandbox = wanted(GroupRole::sandbox, "v2", kGroup, GroupType::domain);
  sandbox.limits = {{"memory.max", "1172307968"}};
  sandbox.seeds = {{"cpuset.cpus", "0-3"}};
  wish.groups = {sandbox, wanted(GroupRole::vcpu, "v2", below("vcpu"), GroupType::threaded)};
  planned.explanations = {memory_explanation()};
  planned.plan.steps = {
      step("v2", below("shim"), op::Create{}),
      step("v2", kGroup, op::Limit{{"memory.max", "max", "1172307968"}}),
      step("v2", below("vcpu"), op::MoveThread{{{4242, 99}, ThreadClass::vcpu, kPod}, 4240})};
  planned.conditions = {{ConditionName::parent_undersized, "have 1 GiB, need 1118 MiB"}};
  return planned;
}

Planned planned_v1() {
  Planned planned;
  planned.id = kSecondId;
  planned.hierarchy = HierarchyMode::hybrid;
  Desired& wish = planned.desired;
  wish.layout = Layout::legacy;
  wish.layout_source = LayoutSource::config;
  wish.driver = Driver::systemd;
  wish.pod_cgroup = path("/docker");
  wish.sandbox_cgroup = path("/docker/kata_0123");
  wish.overhead_cgroup = path("/kata/0123");
  wish.waiting_for = "the VMM's exec";
  wish.overhead = {120 * kMiB, 250, OverheadSource::default_value};
  auto root = wanted(GroupRole::unconstrained, "memory", "/kata", GroupType::v1);
  root.shared = true;
  auto cpu = wanted(GroupRole::constrained, "cpu,cpuacct", "/docker/kata_0123", GroupType::v1);
  cpu.limits = {{"cpu.cfs_quota_us", "50000"}, {"cpu.shares", "1024"}};
  auto memory = wanted(GroupRole::constrained, "memory", "/docker/kata_0123", GroupType::v1);
  memory.limits = {{"memory.limit_in_bytes", "536870912"}};
  wish.groups = {root, cpu, memory,
                 wanted(GroupRole::unconstrained, "memory", "/kata/0123", GroupType::v1)};
  planned.plan.steps = {step("memory", "/kata/0123", op::MoveProcess{{{77, 5}}}),
                        step("", "/system.slice/kata-0123.scope", op::StartScope{})};
  return planned;
}

}  // namespace kcg::samples
