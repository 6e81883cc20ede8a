// SPDX-License-Identifier: Apache-2.0
//
// One sandbox on a node in memory: the kubelet's and Kata's groups, a shim, a VMM with its threads,
// helpers and strangers, as a real Kata node shows them, and on top of it the daemon's own pass.
// What belongs where is computed here once more, by other code than the product's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/systemd_manager.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "observe/sandbox.hpp"
#include "pass/pass.hpp"
#include "record/fold.hpp"
#include "record/record.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_proc.hpp"
#include "support/fake_systemd.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

/// Value: what kind of node and sandbox.
struct Scenario {
  HierarchyMode mode = HierarchyMode::v2;
  std::vector<std::string> v1_controllers;  ///< empty: all that the fake has
  bool systemd = false;                     ///< cgroup driver
  bool kata_only = true;  ///< Kata's own sandbox_cgroup_only: what it does, and what it says
  bool pod_less = false;
  bool thread_names = false;  ///< QEMU's debug-threads
  bool kvm_entries = true;    ///< debugfs
  bool iothread = true;
  bool virtiofsd = true;
  unsigned vcpus = 2;
  unsigned containers = 1;
  unsigned strangers = 2;
  bool kata_cpuset = true;                ///< v1: Kata makes its groups in the cpuset tree as well
  std::optional<bool> kata_pins = false;  ///< what Kata's state says; nullopt: nobody says
  unsigned pod_quota = 0;                 ///< v1: microseconds per 100 ms; 0: none
  unsigned device_programs = 0;           ///< v2: that Kata attaches to its own group
  std::string id = "c0ffee0123456789";
  Config config;
};
[[nodiscard]] std::string describe(const Scenario& scenario);

/// Value: one pass, round by round.
struct Pass {
  std::vector<Round> rounds;
  PassResult result;
  FollowUp follow_up;
  [[nodiscard]] const Round& last() const { return rounds.back(); }
};

/// Resource: the notes of the run directory.
class FakeNotes final : public CreationNotes {
 public:
  explicit FakeNotes(bool& noted) : noted_(noted) {}
  [[nodiscard]] Status note_creation(const SandboxId&) override {
    noted_ = true;
    return {};
  }
  [[nodiscard]] bool creation_noted(const SandboxId&) const override { return noted_; }
  void forget_creation(const SandboxId&) override { noted_ = false; }

 private:
  bool& noted_;
};

/// Resource: see the head of the file.
class SandboxWorld final {
 public:
  explicit SandboxWorld(const Scenario& scenario);

  // --- what happens on the node ---

  void start_shim();
  void limit_pod(const std::string& quota);  ///< v1: what the kubelet grants; "-1": all
  /// Kata makes its own groups, and the shim moves itself there.
  void kata_makes_groups();
  void start_vmm();
  /// vCPU, I/O and vhost threads; without KVM entries or names nothing tells them apart.
  void start_threads();
  void start_virtiofsd();
  void start_strangers();
  /// All of the above, in the order of a real pod.
  void boot();
  /// v2: all that there are, to the children of this group, as Kata and the kubelet do.
  void offer_controllers(const std::string& path);
  /// Kata attaches one more device program to its own group (v2).
  std::uint32_t kata_adds_device_program();
  /// A vCPU more; `runs` false: KVM knows it, but it has not run yet.
  Pid plug_vcpu(bool runs = true);
  void run_vcpu(Pid tid);
  /// A container is created, updated or deleted: with sandbox_cgroup_only=false Kata takes its
  /// vCPU threads (v2: the whole VMM) back into its own group.
  void kata_pulls_back();
  /// Somebody takes shim and VMM into Kata's own group.
  void all_taken_back();
  void end_vmm();
  void end_shim();
  void end_all();
  /// Kata removes its own groups and its state, the engine the bundle.
  void kata_cleans_up();

  // --- the daemon's line ---

  [[nodiscard]] Observed observe();
  /// Observes, decides and compares; changes nothing.
  [[nodiscard]] Round look();
  [[nodiscard]] Pass pass();
  [[nodiscard]] PassOrder order() const;
  /// systemd ends its jobs, and the daemon hears of it.
  void end_jobs();
  /// The same, but none has done what it was for, and systemd says why.
  void fail_jobs();
  /// The same, and nobody says anything.
  void lose_jobs();
  /// As after a crash: nothing is remembered but what /run and the kernel keep.
  void restart_daemon();

  // --- what should be ---

  /// "" when every thread that belongs to the sandbox is where it belongs and no other was moved,
  /// else who is where.
  [[nodiscard]] std::string misplaced() const;
  [[nodiscard]] std::string expected_sandbox_group() const;
  /// A VMM whose vCPUs nobody knows keeps its threads together.
  [[nodiscard]] ThreadClass expected_class(Pid tid) const;
  [[nodiscard]] std::string expected_group(ThreadClass cls, const Hierarchy& hierarchy) const;
  [[nodiscard]] bool legacy() const;
  [[nodiscard]] bool nested() const;
  /// Groups of ours that exist, "v2:/path".
  [[nodiscard]] std::vector<std::string> marked_groups() const;

  Scenario scenario;
  FakeTree tree;
  FakeProc proc;
  FakeSystemd systemd;
  FakeClock clock;
  Record record;
  unsigned failures = 0;                 ///< of passes, in a row
  std::optional<Instant> confirm_after;  ///< see PassOrder
  const Observed* last = nullptr;        ///< see PassOrder
  bool groups_hold = false;              ///< see PassOrder
  bool around_told = false;              ///< see PassOrder
  const ThreadsRead* threads = nullptr;  ///< see PassOrder
  Assembled assembled;
  ObserveContext context;
  FakeNotes notes{context.creation_recorded};
  SystemdManager* manager = &systemd;  ///< nullptr: not reached

  std::string pod_group;
  std::string kata_group;      ///< Kata's own for the sandbox
  std::string overhead_group;  ///< Kata's own with sandbox_cgroup_only=false
  Pid containerd = 0, shim = 0, vmm = 0, virtiofsd = 0, virtiofsd_child = 0;
  std::vector<Pid> vcpus, io_threads;
  std::vector<Pid> strangers;
  /// What each thread of the sandbox is for, as far as anything tells.
  std::map<Pid, ThreadClass> classes;

 private:
  void make_inputs();
  void make_group(const std::string& path, bool with_cpuset = true);
  void remove_group(const std::string& path);
  void put(Pid task, const std::string& path, bool whole);
  void start_thread(ThreadClass cls, const std::string& comm);
  [[nodiscard]] bool unified() const { return scenario.mode == HierarchyMode::v2; }
  [[nodiscard]] bool classified() const { return scenario.thread_names || scenario.kvm_entries; }

  std::map<Pid, std::vector<std::string>> stranger_groups_;
};

}  // namespace kcg::test
