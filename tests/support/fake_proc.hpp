// SPDX-License-Identifier: Apache-2.0
//
// ProcView in memory. Which group a thread is in is asked of a FakeTree, so that moves made through
// the tree show here, and processes made here exist there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proc/view.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

/// Value: what a process runs.
struct Program {
  std::string comm;
  std::string exe;
  std::vector<std::string> args;
  std::string cwd = "/";
};

/// Resource: see the head of the file. Pid 1 exists from the start and inherits orphans.
class FakeProc final : public ProcView {
 public:
  explicit FakeProc(FakeTree& tree);

  [[nodiscard]] Result<std::vector<Pid>> pids() override;
  [[nodiscard]] Result<TaskStat> stat(Pid pid) override;
  [[nodiscard]] Result<ProcFacts> facts(Pid pid) override;
  [[nodiscard]] Result<std::vector<Pid>> children(Pid pid) override;
  [[nodiscard]] Result<std::vector<ThreadFacts>> threads(Pid pid, const Host& host,
                                                         std::size_t max) override;
  void mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads) override;
  [[nodiscard]] Result<std::vector<std::string>> groups(Pid tid, const Host& host) override;
  [[nodiscard]] Result<KvmVcpus> kvm_vcpus(const TaskKey& vmm,
                                           const std::vector<ThreadFacts>& threads) override;
  [[nodiscard]] Result<std::uint64_t> charged_memory(Pid pid) override;
  void forget(Pid) override {}
  void forget_ended() override {}

  /// fork and exec: root's user, our namespaces and root; born in its parent's groups.
  Pid start(Pid parent, const Program& program);
  /// The same with a chosen pid, to let a pid be used again.
  void start_as(Pid pid, Pid parent, const Program& program);
  void exec(Pid pid, const Program& program);
  /// A thread born where `creator` is (0 = the leader); its comm is `comm`, or the creator's.
  Pid add_thread(Pid pid, const std::string& comm = "", Pid creator = 0);
  void rename(Pid tid, const std::string& comm) { threads_.at(tid).facts.comm = comm; }
  void exit_thread(Pid tid);
  void exit_process(Pid pid);
  /// To change anything else.
  [[nodiscard]] ProcFacts& process(Pid pid) { return processes_.at(pid); }
  [[nodiscard]] ThreadFacts& thread(Pid tid) { return threads_.at(tid).facts; }
  [[nodiscard]] TaskKey key(Pid tid) const { return threads_.at(tid).facts.key; }

  /// What charged_memory() answers.
  void set_charged_memory(Pid pid, std::uint64_t bytes) { memory_[pid] = bytes; }
  /// KVM's debugfs: tids of a VMM's vCPUs in order, 0 = has not run yet.
  void set_vcpus(Pid vmm, const std::vector<Pid>& tids);
  void set_debugfs(bool mounted) { debugfs_ = mounted; }
  /// The thread sleeps in KVM_RUN.
  void set_vcpu_ioctl(Pid tid) { in_ioctl_.insert(tid); }

 private:
  struct OneThread {
    Pid pid = 0;
    ThreadFacts facts;
  };
  void add(Pid pid, Pid tid, const std::string& comm);

  FakeTree& tree_;
  std::map<Pid, ProcFacts> processes_;
  std::map<Pid, OneThread> threads_;
  std::map<Pid, KvmVcpus> vcpus_;
  std::set<Pid> in_ioctl_;
  std::map<Pid, std::uint64_t> memory_;
  bool debugfs_ = true;
  Pid next_pid_ = 100;
  std::uint64_t next_start_ = 1000;
};

}  // namespace kcg::test
