// SPDX-License-Identifier: Apache-2.0
//
// ProcView on the real /proc (L4). Everything is opened beneath the pinned root of /proc; facts go
// through the pinned directory of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dir.hpp"
#include "kernel/proc_stat.hpp"
#include "proc/facts.hpp"
#include "proc/kvm_debugfs.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: owns the root descriptor and what is kept per process.
class KernelProc final : public ProcView {
 public:
  /// Facts of at most `max_kept` processes are kept; beyond, the longest unused quarter is dropped.
  [[nodiscard]] static Result<std::unique_ptr<KernelProc>> open(
      const std::string& proc_root = "/proc", const std::string& kvm = "/sys/kernel/debug/kvm",
      std::size_t max_kept = 16'384);

  [[nodiscard]] Result<std::vector<Pid>> pids() override;
  [[nodiscard]] Result<TaskStat> stat(Pid pid) override;
  [[nodiscard]] Result<ProcFacts> facts(Pid pid) override;
  /// Uses /proc/<pid>/task/*/children; without CONFIG_PROC_CHILDREN, the parents of all processes.
  [[nodiscard]] Result<std::vector<Pid>> children(Pid pid) override;
  [[nodiscard]] Result<std::vector<ThreadFacts>> threads(Pid pid, const Host& host,
                                                         std::size_t max) override;
  void mark_vcpu_hints(Pid pid, std::vector<ThreadFacts>& threads) override;
  [[nodiscard]] Result<std::vector<std::string>> groups(Pid tid, const Host& host) override;
  [[nodiscard]] Result<KvmVcpus> kvm_vcpus(const TaskKey& vmm,
                                           const std::vector<ThreadFacts>& threads) override;
  [[nodiscard]] Result<std::uint64_t> charged_memory(Pid pid) override;
  void forget(Pid pid) override;
  void forget_ended() override;

  [[nodiscard]] std::size_t kept() const { return facts_.size(); }

 private:
  struct Kept {
    ProcFacts facts;
    std::uint64_t used = 0;  ///< larger = later
  };
  KernelProc(Dir root, OwnIdentity own, std::string kvm, std::size_t max_kept)
      : root_(std::move(root)), own_(std::move(own)), kvm_(std::move(kvm)), max_kept_(max_kept) {}
  [[nodiscard]] Result<std::vector<Pid>> children_by_parent(Pid pid);
  void keep(const ProcFacts& facts);

  Dir root_;
  OwnIdentity own_;
  KvmDebugfs kvm_;
  std::size_t max_kept_;
  std::unordered_map<Pid, Kept> facts_;
  std::uint64_t uses_ = 0;
};

}  // namespace kcg
