// SPDX-License-Identifier: Apache-2.0
#include "support/sandbox_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "observe/sandbox.hpp"

namespace kcg::test {

namespace {

constexpr const char* kBundles = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/";
constexpr const char* kAll = "+cpuset +cpu +io +memory +pids";

Host host_of(const Scenario& scenario) {
  Host host = scenario.mode == HierarchyMode::v2 ? fake_host_v2() : fake_host_v1();
  host.mode = scenario.mode;
  const auto& chosen = scenario.v1_controllers;
  if (!chosen.empty())
    std::erase_if(host.hierarchies, [&](const Hierarchy& h) {
      return std::find(chosen.begin(), chosen.end(), h.name) == chosen.end();
    });
  return host;
}

CgroupPath path_of(const std::string& text) { return CgroupPath::parse(text).value(); }

Bundle container_bundle(const Scenario& scenario, unsigned number, const std::string& parent) {
  Bundle bundle;
  bundle.id = fmt::format("container{}", number);
  bundle.directory = kBundles + bundle.id;
  bundle.engine = Engine::containerd;
  bundle.ns = "k8s.io";
  bundle.type = BundleType::container;
  bundle.sandbox_id = scenario.id;
  bundle.cgroups_path = (scenario.systemd ? parent + ":cri-containerd:" : parent + "/") + bundle.id;
  bundle.resources.memory_limit = std::int64_t{512} << 20;
  bundle.resources.cpu_quota = 50'000;
  bundle.resources.cpu_period = 100'000;
  bundle.resources.cpu_shares = 512;
  return bundle;
}

}  // namespace

std::string describe(const Scenario& s) {
  return fmt::format(
      "{} {} kata_only={} pod_less={} names={} kvm={} io={} fs={} vcpus={} strangers={} "
      "devices={} kata_cpuset={} pins={} thread_groups={} only={} legacy_root={} id={}",
      name(s.mode), s.systemd ? "systemd" : "cgroupfs", s.kata_only, s.pod_less, s.thread_names,
      s.kvm_entries, s.iothread, s.virtiofsd, s.vcpus, s.strangers, s.device_programs,
      s.kata_cpuset, s.kata_pins ? (*s.kata_pins ? "yes" : "no") : "unknown",
      s.config.placement.thread_groups,
      s.config.layout.sandbox_cgroup_only
          ? (*s.config.layout.sandbox_cgroup_only ? "true" : "false")
          : "auto",
      s.config.layout.legacy_root, s.id);
}

SandboxWorld::SandboxWorld(const Scenario& given)
    : scenario(given), tree(host_of(given)), proc(tree), systemd(tree) {
  proc.set_debugfs(scenario.kvm_entries);
  make_inputs();
  containerd = proc.start(1, {"containerd", "/usr/bin/containerd", {"/usr/bin/containerd"}});
  make_group("/system.slice/containerd.service");
  put(containerd, "/system.slice/containerd.service", true);
  offer_controllers("/");
  if (scenario.pod_less && !scenario.systemd) return;
  make_group(pod_group);
  if (scenario.pod_quota > 0) limit_pod(std::to_string(scenario.pod_quota));
  std::vector<CgroupPath> above;
  for (auto at = path_of(pod_group); !at.is_root(); at = at.parent()) above.push_back(at.parent());
  for (auto at = above.rbegin(); at != above.rend(); ++at)
    offer_controllers(std::string(at->str()));
  // systemd hands the controllers down to every slice that holds a delegated scope.
  if (scenario.systemd) offer_controllers(pod_group);
}

void SandboxWorld::make_inputs() {
  const auto& id = scenario.id;
  Bundle bundle;
  bundle.id = bundle.sandbox_id = id;
  bundle.directory = kBundles + id;
  bundle.engine = scenario.pod_less ? Engine::none : Engine::containerd;
  bundle.ns = "k8s.io";
  bundle.type = scenario.pod_less ? BundleType::single : BundleType::sandbox;
  bundle.pod = {"default", "web", "1234"};
  bundle.shim_binary = "/opt/kata/bin/containerd-shim-kata-v2";
  std::string parent;
  if (scenario.systemd) {
    parent = scenario.pod_less ? "system.slice" : "kubepods-burstable-pod1.slice";
    pod_group =
        scenario.pod_less ? "/system.slice" : "/kubepods.slice/kubepods-burstable.slice/" + parent;
    bundle.cgroups_path = parent + ":cri-containerd:" + id;
    kata_group = scenario.kata_only ? pod_group + "/cri-containerd-" + id + ".scope"
                                    : "/" + bundle.cgroups_path;
  } else {
    parent = pod_group = scenario.pod_less ? "/docker" : "/kubepods/burstable/pod1";
    bundle.cgroups_path = parent + "/" + id;
    kata_group = pod_group + "/kata_" + id;
  }
  if (!scenario.kata_only) overhead_group = "/kata_overhead/" + id;
  if (scenario.pod_less) bundle.resources = container_bundle(scenario, 0, parent).resources;
  const auto parsed = SandboxId::parse(id).value();
  assembled.inputs.id = parsed;
  assembled.inputs.bundle = std::move(bundle);
  for (unsigned i = 0; !scenario.pod_less && i < scenario.containers; ++i)
    assembled.inputs.containers.push_back(container_bundle(scenario, i, parent));
  KataState kata;
  kata.state = "running";
  kata.hypervisor = "qemu";
  kata.sandbox_cgroup_only = scenario.kata_only;
  kata.vcpus_pinning = scenario.kata_pins;
  assembled.inputs.kata = kata;
}

/// mkdir -p; a v1 cpuset is filled on the way, as runtimes and the kubelet do.
void SandboxWorld::make_group(const std::string& path, bool with_cpuset) {
  tree.outside([&](CgroupTree& outside) {
    for (const auto& hierarchy : tree.host().hierarchies) {
      if (!hierarchy.unified && hierarchy.has("cpuset") && !with_cpuset) continue;
      tree.make_all(hierarchy.name.str(), path);
      if (hierarchy.unified || !hierarchy.has("cpuset")) continue;
      CgroupPath at;
      for (const auto part : split(std::string_view(path).substr(1), '/')) {
        at = at.child(part).value();
        for (const auto* file : {"cpuset.cpus", "cpuset.mems"}) {
          if (outside.read({hierarchy.name, at}, file).value() != "") continue;
          const auto above = outside.read({hierarchy.name, at.parent()}, file).value();
          (void)outside.write({hierarchy.name, at}, file, above);  // ignored: cannot fail
        }
      }
    }
  });
}

void SandboxWorld::limit_pod(const std::string& quota) {
  tree.outside([&](CgroupTree& outside) {
    for (const auto& h : tree.host().hierarchies)
      if (!h.unified && h.has("cpu"))  // ignored: it may be less than groups below it have
        (void)outside.write({h.name, path_of(pod_group)}, "cpu.cfs_quota_us", quota);
  });
}

void SandboxWorld::remove_group(const std::string& path) {
  tree.outside([&](CgroupTree& outside) {
    for (const auto& hierarchy : tree.host().hierarchies)  // ignored: Kata does not insist either
      (void)outside.remove({hierarchy.name, path_of(path)});
  });
}

void SandboxWorld::offer_controllers(const std::string& path) {
  if (!unified()) return;
  tree.outside([&](CgroupTree& outside) {  // ignored: cannot fail
    (void)outside.write({"v2", path_of(path)}, "cgroup.subtree_control", kAll);
  });
}

void SandboxWorld::put(Pid task, const std::string& path, bool whole) {
  tree.outside([&](CgroupTree& outside) {
    for (const auto& hierarchy : tree.host().hierarchies) {
      const auto* file = whole ? "cgroup.procs" : hierarchy.unified ? "cgroup.threads" : "tasks";
      // ignored: Kata does not notice either
      (void)outside.write({hierarchy.name, path_of(path)}, file, std::to_string(task));
    }
  });
}

void SandboxWorld::start_shim() {
  const auto& bundle = *assembled.inputs.bundle;
  shim = proc.start(containerd, {"containerd-shim",
                                 bundle.shim_binary,
                                 {bundle.shim_binary, "-namespace", "k8s.io", "-id", scenario.id},
                                 bundle.directory});
  classes[shim] = ThreadClass::shim;
  for (int i = 0; i < 3; ++i) classes[proc.add_thread(shim)] = ThreadClass::shim;
  assembled.inputs.bundle->shim_pid = shim;
}

void SandboxWorld::kata_makes_groups() {
  make_group(kata_group, scenario.kata_cpuset);
  for (unsigned i = 0; unified() && i < scenario.device_programs; ++i)
    (void)kata_adds_device_program();  // ignored: the id is the test's to ask for
  if (!overhead_group.empty()) make_group(overhead_group, scenario.kata_cpuset);
  put(shim, overhead_group.empty() ? kata_group : overhead_group, true);
}

std::uint32_t SandboxWorld::kata_adds_device_program() {
  const auto program = tree.load_device_program();
  tree.outside([&](CgroupTree& outside) {  // ignored: cannot fail
    (void)outside.change_devices({"v2", path_of(kata_group)}, {program, kSeveralPrograms, true});
  });
  return program;
}

void SandboxWorld::start_vmm() {
  const std::string name = "sandbox-" + scenario.id;
  vmm = proc.start(shim, {"qemu-system-x86",
                          "/usr/bin/qemu-system-x86_64",
                          {"/usr/bin/qemu-system-x86_64", "-name",
                           scenario.thread_names ? name + ",debug-threads=on" : name, "-m", "256M"},
                          assembled.inputs.bundle->directory});
  classes[vmm] = ThreadClass::vmm;
}

void SandboxWorld::start_thread(ThreadClass cls, const std::string& comm) {
  const Pid tid = proc.add_thread(vmm, scenario.thread_names ? comm : "");
  const bool told = cls == ThreadClass::vcpu ? classified() : scenario.thread_names;
  classes[tid] = told ? cls : ThreadClass::vmm;
  (cls == ThreadClass::vcpu ? vcpus : io_threads).push_back(tid);
}

void SandboxWorld::start_threads() {
  for (unsigned i = 0; i < scenario.vcpus; ++i)
    start_thread(ThreadClass::vcpu, fmt::format("CPU {}/KVM", i));
  proc.set_vcpus(vmm, vcpus);
  if (scenario.iothread) start_thread(ThreadClass::io, "IO iothread0");
  classes[proc.add_thread(vmm)] = ThreadClass::vmm;
  classes[proc.add_thread(vmm, fmt::format("vhost-{}", vmm))] = ThreadClass::io;
}

void SandboxWorld::start_virtiofsd() {
  const Program program{"virtiofsd",
                        "/opt/kata/libexec/virtiofsd",
                        {"/opt/kata/libexec/virtiofsd", "--shared-dir",
                         "/run/kata-containers/shared/sandboxes/" + scenario.id + "/shared"}};
  virtiofsd = proc.start(shim, program);
  virtiofsd_child = proc.start(virtiofsd, program);
  classes[virtiofsd] = classes[virtiofsd_child] = ThreadClass::io;
  classes[proc.add_thread(virtiofsd_child)] = ThreadClass::io;
}

/// One names the sandbox in its arguments, the others do not.
void SandboxWorld::start_strangers() {
  for (unsigned i = 0; i < scenario.strangers; ++i) {
    const Pid pid = proc.start(1, {"qemu-system-x86",
                                   "/usr/bin/qemu-system-x86_64",
                                   {"qemu", "-name", "sandbox-" + scenario.id + (i ? "0" : "")}});
    (void)proc.add_thread(pid, "CPU 0/KVM");
    strangers.push_back(pid);
    for (const Pid tid : tree.threads_of(pid))
      stranger_groups_[tid] = proc.groups(tid, tree.host()).value();
  }
}

void SandboxWorld::boot() {
  start_shim();
  kata_makes_groups();
  start_vmm();
  if (scenario.virtiofsd) start_virtiofsd();
  start_threads();
  start_strangers();
  kata_pulls_back();
}

Pid SandboxWorld::plug_vcpu(bool runs) {
  start_thread(ThreadClass::vcpu, fmt::format("CPU {}/KVM", vcpus.size()));
  const Pid tid = vcpus.back();
  if (!runs) vcpus.back() = 0;
  proc.set_vcpus(vmm, vcpus);
  vcpus.back() = tid;
  return tid;
}

void SandboxWorld::run_vcpu(Pid) { proc.set_vcpus(vmm, vcpus); }

void SandboxWorld::kata_pulls_back() {
  if (scenario.kata_only) return;
  if (unified()) return put(vmm, kata_group, true);
  for (const Pid tid : vcpus) put(tid, kata_group, false);
}

void SandboxWorld::all_taken_back() {
  for (const Pid pid : {shim, vmm}) put(pid, kata_group, true);
}

void SandboxWorld::end_vmm() {
  if (vmm == 0) return;
  for (const Pid tid : tree.threads_of(vmm)) classes.erase(tid);
  proc.exit_process(vmm);
  vmm = 0;
  vcpus.clear();
  io_threads.clear();
}

void SandboxWorld::end_shim() {
  if (shim == 0) return;
  for (const Pid tid : tree.threads_of(shim)) classes.erase(tid);
  proc.exit_process(shim);
  shim = 0;
}

void SandboxWorld::end_all() {
  end_vmm();
  for (const Pid pid : {virtiofsd_child, virtiofsd}) {
    if (pid == 0) continue;
    for (const Pid tid : tree.threads_of(pid)) classes.erase(tid);
    proc.exit_process(pid);
  }
  virtiofsd = virtiofsd_child = 0;
  end_shim();
}

void SandboxWorld::kata_cleans_up() {
  assembled.inputs.kata.reset();
  assembled.inputs.bundle.reset();
  assembled.inputs.containers.clear();
  remove_group(kata_group);
  if (!overhead_group.empty()) remove_group(overhead_group);
}

}  // namespace kcg::test
