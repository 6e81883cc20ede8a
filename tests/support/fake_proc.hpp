// SPDX-License-Identifier: Apache-2.0
//
// ProcView in memory. Which group a thread is in is asked of a FakeTree, so that moves made through
// the tree show here, and processes made here exist there.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proc/threads_ahead.hpp"
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
  [[nodiscard]] Result<TaskStat> thread_stat(Pid pid, Pid tid) override;
  [[nodiscard]] std::vector<Result<TaskName>> names(const std::vector<Pid>& pids) override;
  [[nodiscard]] Result<ProcFacts> identity(Pid pid) override;
  [[nodiscard]] Result<ProcFacts> facts(Pid pid) override;
  [[nodiscard]] Result<std::vector<Pid>> children(Pid pid) override;
  [[nodiscard]] Result<std::vector<ThreadFacts>> threads(Pid pid, const Host& host,
                                                         std::size_t max) override;
  [[nodiscard]] bool read_ahead(const TaskKey& process, const Host& host,
                                const std::function<bool()>& stop) override;
  void use_ahead(bool use) override { ahead_.use(use); }
  void drop_ahead(Pid pid) override { ahead_.drop(pid); }
  [[nodiscard]] Result<std::vector<Pid>> tids(Pid pid) override;
  [[nodiscard]] Result<ThreadFacts> thread(Pid pid, Pid tid, const Host& host) override;
  void mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads,
                       const std::function<VcpuHints(const ThreadFacts&)>& wanted) override;
  [[nodiscard]] Result<std::vector<std::string>> groups(Pid tid, const Host& host) override;
  [[nodiscard]] Result<KvmVcpus> kvm_vcpus(const TaskKey& vmm,
                                           const std::vector<ThreadFacts>& threads) override;
  [[nodiscard]] Result<std::uint64_t> charged_memory(Pid pid) override;
  [[nodiscard]] Result<std::uint64_t> huge_memory(Pid pid) override;
  [[nodiscard]] Result<std::vector<Mapping>> mappings(const TaskKey& process,
                                                      bool resident) override;
  [[nodiscard]] std::optional<Pid> last_born() override {
    return births_told_ ? std::optional(last_born_) : std::nullopt;
  }
  void forget(Pid) override {}
  void forget_all_but(const std::vector<Pid>& living) override { kept_ = living; }

  /// fork and exec: root's user, our namespaces and root; born in its parent's groups.
  Pid start(Pid parent, const Program& program);
  /// Whoever starts next does so at this time, in ticks since boot.
  void set_next_start(std::uint64_t ticks) { next_start_ = ticks; }
  /// The same with a chosen pid, to let a pid be used again.
  void start_as(Pid pid, Pid parent, const Program& program);
  void exec(Pid pid, const Program& program);
  /// A thread born where `creator` is (0 = the leader); its comm is `comm`, or the creator's.
  Pid add_thread(Pid pid, const std::string& comm = "", Pid creator = 0);
  void rename(Pid tid, const std::string& comm) { threads_.at(tid).facts.comm = comm; }
  void exit_thread(Pid tid);
  void exit_process(Pid pid);
  /// It is ending until it exits: only its stat is there, in this state ('X': it was waited for;
  /// any other: it was killed, and gives its memory back).
  void set_ending(Pid pid, char state);
  /// Its command line hangs, until it does not.
  void set_hanging(Pid pid, bool hangs) {
    processes_.at(pid).args_unknown = hangs ? "it hangs" : "";
  }
  /// What forget_all_but() was told last; nullopt: nothing yet.
  [[nodiscard]] const std::optional<std::vector<Pid>>& not_forgotten() const { return kept_; }
  /// Asked before each read: an errno to fail with, or 0.
  void on_read(std::function<int()> hook) { read_hook_ = std::move(hook); }
  /// Whose identities, and whose children, were looked at.
  [[nodiscard]] const std::set<Pid>& looked_at() const { return looked_at_; }
  [[nodiscard]] const std::set<Pid>& walked() const { return walked_; }
  void clear_looks() {
    looked_at_.clear();
    walked_.clear();
  }
  /// Happens once, while children are read next.
  void meanwhile(std::function<void()> happens) { meanwhile_ = std::move(happens); }
  /// To change anything else.
  [[nodiscard]] ProcFacts& process(Pid pid) { return processes_.at(pid); }
  [[nodiscard]] ThreadFacts& thread(Pid tid) { return threads_.at(tid).facts; }
  [[nodiscard]] TaskKey key(Pid tid) const { return threads_.at(tid).facts.key; }

  /// What charged_memory() answers.
  void set_charged_memory(Pid pid, std::uint64_t bytes) { memory_[pid] = bytes; }
  void set_huge_memory(Pid pid, std::uint64_t bytes) { huge_[pid] = bytes; }
  /// What mappings() answers, without what is resident where that is not asked for; nullopt:
  /// EAGAIN.
  void set_mappings(Pid pid, std::optional<std::vector<Mapping>> mappings) {
    mappings_[pid] = std::move(mappings);
  }
  /// How often mappings were asked for; `resident`: with what is there.
  [[nodiscard]] unsigned mappings_read(bool resident) const { return mappings_read_[resident]; }
  /// KVM's debugfs: tids of a VMM's vCPUs in order, 0 = has not run yet.
  void set_vcpus(Pid vmm, const std::vector<Pid>& tids);
  void set_debugfs(bool mounted) { debugfs_ = mounted; }
  /// Whether last_born() has an answer.
  void tell_births(bool told) { births_told_ = told; }
  /// The thread sleeps in KVM_RUN.
  void set_vcpu_ioctl(Pid tid) { in_ioctl_.insert(tid); }

 private:
  struct OneThread {
    Pid pid = 0;
    ThreadFacts facts;
  };
  void add(Pid pid, Pid tid, const std::string& comm);
  [[nodiscard]] ThreadFacts with_groups(ThreadFacts facts, const Host& host) const;
  /// The errno that this read fails with, or 0.
  [[nodiscard]] int fault() { return read_hook_ ? read_hook_() : 0; }

  FakeTree& tree_;
  std::map<Pid, ProcFacts> processes_;
  std::map<Pid, OneThread> threads_;
  std::map<Pid, KvmVcpus> vcpus_;
  std::set<Pid> in_ioctl_;
  std::map<Pid, char> ending_;
  std::map<Pid, std::uint64_t> memory_, huge_;
  std::map<Pid, std::optional<std::vector<Mapping>>> mappings_;
  std::array<unsigned, 2> mappings_read_{};
  std::function<int()> read_hook_;
  ThreadsAhead ahead_{2};
  std::optional<std::vector<Pid>> kept_;
  std::set<Pid> looked_at_, walked_;
  std::function<void()> meanwhile_;
  bool debugfs_ = true;
  bool births_told_ = true;
  Pid last_born_ = 0;
  Pid next_pid_ = 100;
  std::uint64_t next_start_ = 1000;
};

}  // namespace kcg::test
