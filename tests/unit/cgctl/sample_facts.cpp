// SPDX-License-Identifier: Apache-2.0
#include "unit/cgctl/sample_facts.hpp"

#include <cerrno>

#include "base/version.hpp"
#include "support/sample_views.hpp"

namespace kcg::samples {

cgctl::doctor::Facts sound_node() {
  cgctl::doctor::Facts facts;
  facts.root = true;
  facts.kernel = "6.12.1-amd64";
  facts.namespaces = {"pid:[4026531836]", "user:[4026531837]", "cgroup:[4026531835]"};
  facts.host->hierarchies = {{"v2", {"cpuset", "cpu", "io", "memory"}, true, "/sys/fs/cgroup"}};
  for (const auto* one : {"cpuset", "cpu", "io", "memory"})
    facts.libcgroup->emplace(one, "/sys/fs/cgroup");
  facts.inotify_watches = 65'536;
  facts.inotify_instances = 128;
  facts.run = cgctl::doctor::RunSpace{"/run", std::uint64_t{512} << 20, 100'000};
  facts.daemon.running = true;
  facts.daemon.version = version();
  facts.daemon.mode = "enforce";
  facts.daemon.parts["NRI"] = "working";
  facts.daemon.process = cgctl::DaemonProcess{77, 266'400, 4'510'000, 12ULL << 20};
  facts.sandboxes = {legacy(), legacy()};
  facts.kubelet_driver = "systemd";
  cgctl::doctor::KataFile kata{"/etc/kata-containers/configuration.toml", {}};
  kata.words.only = KataConfigWord{true, 12};
  kata.words.annotations["qemu"] = {{"enable_iommu", "^memory_"}, 20};
  facts.kata = kata;
  facts.containerd = {{"/etc/containerd/config.toml", {"kata", {"io.katacontainers.*"}, 31}}};
  return facts;
}

cgctl::doctor::Facts broken_node() {
  auto facts = sound_node();
  facts.kernel = "5.4.0-1";
  facts.namespaces.pid = "pid:[4026532999]";
  facts.host->mode = HierarchyMode::v1;
  facts.host->hierarchies = {{"cpu,cpuacct", {"cpu", "cpuacct"}, false, "/sys/fs/cgroup/cpu"},
                             {"cpuset", {"cpuset"}, false, "/sys/fs/cgroup/cpuset"}};
  facts.libcgroup->erase("cpuset");
  facts.pressure = fail(ENOENT, "pressure/cpu: No such file or directory");
  facts.kvm_debugfs = fail(ENOENT, "/sys/kernel/debug/kvm: No such file or directory");
  facts.inotify_watches = 600;
  facts.run = cgctl::doctor::RunSpace{"/run", 4096, 5};
  facts.config->layout.sandbox_cgroup_only = false;
  facts.config->origins.by_name["layout.sandbox_cgroup_only"] = "/etc/kata-cgroupd/config.toml:7";
  facts.daemon.version = "0.0.9";
  facts.daemon.problems = {"lost events: 12 times in a minute",
                           "process events: proc connector: refused"};
  facts.systemd = fail(0, "nobody owns org.freedesktop.systemd1 on the bus 'system'");
  facts.sandboxes->push_back(kcg::samples::degraded());
  facts.kubelet_driver = "cgroupfs";
  (*facts.kata)->words.annotations.clear();
  return facts;
}

cgctl::doctor::Facts seen_by_nobody() {
  auto facts = sound_node();
  facts.root = false;
  facts.daemon = {};
  facts.daemon.why_not =
      "nobody owns io.katacontainers.CgroupManager1 on the bus 'system': is kata-cgroupd running?";
  facts.kvm_debugfs = fail(EACCES, "/sys/kernel/debug/kvm: Permission denied");
  facts.process_events = fail(EPERM, "proc connector: Operation not permitted");
  facts.containerd = fail(EACCES, "/etc/containerd/config.toml: Permission denied");
  facts.sandboxes->clear();
  return facts;
}

}  // namespace kcg::samples
