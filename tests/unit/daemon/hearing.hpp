// SPDX-License-Identifier: Apache-2.0
//
// A reconciler where events tell what happens, whose looks are counted.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/dir.hpp"
#include "daemon/node/cpu_time.hpp"
#include "unit/daemon/reconciling.hpp"

namespace kcg::test {

/// Uses so much CPU time.
inline void burn(Instant cpu) {
  for (const auto until = thread_cpu_time() + cpu; thread_cpu_time() < until;) continue;
}

/// Resource: counts the looks that were taken, and tells of nothing.
class CountingFollower final : public Follower {
 public:
  void follow(const SandboxId& id, const Round&) override {
    ++looks;
    seen.push_back(id.str());
    burn(costs);
    if (looked) looked(id.str());
  }
  void expect_vmm(const SandboxId& /*id*/, Pid shim) override { expecting.push_back(shim); }
  void await_end(const SandboxId& /*id*/, const TaskKey& process) override {
    awaited.push_back(process.pid);
  }
  void hear_groups() override {
    if (hears) std::exchange(hears, nullptr)();
  }
  void wrote(const Round&) override {}
  [[nodiscard]] Told told(const SandboxId& /*id*/) const override {
    return {threads, vcpus, groups};
  }
  void leave(const SandboxId&) override {}
  void set_mode(Mode) override {}
  unsigned looks = 0;
  std::vector<std::string> seen;                       ///< whom
  std::vector<Pid> expecting;                          ///< see expect_vmm()
  std::vector<Pid> awaited;                            ///< see await_end()
  Instant costs{0};                                    ///< CPU time of each
  bool threads = true, vcpus = false, groups = false;  ///< see Told
  std::function<void()> hears;                         ///< happens once, when groups are heard next
  std::function<void(const std::string&)> looked;      ///< happens after each look
};

/// Resource: where events tell what happens.
class Hearing : public Reconciling {
 protected:
  /// A VMM that was placed, and nothing is left to do.
  Pid placed() {
    const Pid vmm = found_vmm();
    place(vmm);
    reconciler_->set_follower(&follower_);
    reconciler_->hint({HintKind::process_end, "x", vmm});
    run();
    follower_.looks = 0;
    return vmm;
  }
  /// As somebody else moves it.
  void take_away(Pid vmm) {
    tree_.outside([&](CgroupTree& tree) {
      const auto elsewhere = CgroupPath::parse("/kubepods/pod1/x").value();
      ASSERT_TRUE(tree.write({tree_.host().hierarchies.front().name, elsewhere}, "cgroup.procs",
                             std::to_string(vmm)));
    });
  }
  /// Does not wait.
  void look_by(HintKind kind, Pid pid) {
    follower_.looks = 0;
    reconciler_->hint({kind, "x", pid});
    run();
    EXPECT_EQ(std::exchange(follower_.looks, 0), 1U);
  }
  /// Until there was one, and nothing more is due.
  void wait_for_a_look() {
    const auto patience = clock_.now() + std::chrono::seconds(10);
    while (follower_.looks == 0 && clock_.now() < patience)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
    run();
    EXPECT_EQ(follower_.looks, 1U);
  }
  /// How many there are while a rest, and the time to a look that finds nothing left, go by.
  unsigned looks_later() {
    const auto until = clock_.now() + kRest + std::max(kRestBeforeVmm, kConfirm);
    for (auto now = clock_.now(); now < until; now = clock_.now())
      // ignored: only what was looked at counts
      (void)::sd_event_run(loop_->get(), static_cast<std::uint64_t>((until - now).count()));
    run();  // who was not given a CPU in time does it now
    return follower_.looks;
  }
  /// The daemon has started, and nobody has told it of this bundle.
  std::string bundle_beside_the_daemon() {
    tree_.make_all(tree_.host().hierarchies.front().name.str(), "/kubepods/pod1");
    start();
    run();
    reconciler_->set_follower(&follower_);
    return new_bundle();
  }
  /// Nobody has told of it.
  std::string new_bundle(const std::string& id = "b") {
    auto task = directory() + "/containerd/io.containerd.runtime.v2.task/k8s.io/" + id;
    std::filesystem::create_directories(task);
    std::ofstream(task + "/config.json") << fmt::format(
        R"({{"annotations": {{"io.kubernetes.cri.container-type": "sandbox",
             "io.kubernetes.cri.sandbox-id": "{0}"}}, "linux": {{"cgroupsPath": "/kubepods/pod1/{0}"}}}})",
        id);
    std::ofstream(task + "/shim-binary-path") << "/usr/bin/containerd-shim-kata-v2";
    return task;
  }
  /// Who calls himself the shim of "b", and works in `directory`.
  Pid shim_executes(const std::string& directory, bool hangs = false, bool told = true) {
    const Pid pid = proc_.start(1, {"containerd-shim",
                                    "/usr/bin/containerd-shim-kata-v2",
                                    {"shim", "-namespace", "k8s.io", "-id", "b"},
                                    directory});
    const auto stamp = Dir::open(directory).value().stamp().value();
    proc_.process(pid).cwd_id = FileId{stamp.device, stamp.inode};
    proc_.set_hanging(pid, hangs);
    if (told) reconciler_->hint({HintKind::exec, "", pid});
    return pid;
  }
  Pid vmm_executes(Pid shim) {
    const Pid pid = proc_.start(shim, {"q", "/q", {"q", "-name", "sandbox-b"}});
    reconciler_->hint({HintKind::exec, "", pid});
    return pid;
  }
  void TearDown() override { reconciler_.reset(); }

  CountingFollower follower_;
};

}  // namespace kcg::test
