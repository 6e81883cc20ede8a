// SPDX-License-Identifier: Apache-2.0
//
// A glance at the threads of one process (L7, internal to pass/): all of them, or those that were
// heard of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "cgroup/tree.hpp"
#include "model/fields.hpp"
#include "model/process.hpp"
#include "model/stirred.hpp"
#include "observe/sandbox.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Value: a thread as it was seen last.
struct ThreadSeen {
  TaskKey key;
  ThreadClass cls = ThreadClass::vmm;
  ClassSource by = ClassSource::fallback;
  bool named_vcpu = false;  ///< its name says so
  bool glanced = false;  ///< not by the last look, which may have seen it otherwise or not at all
};

template <class Bytes, PartLike<ThreadSeen> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [key, cls, by, named_vcpu, glanced] = part;
  bytes(key, cls, by, named_vcpu, glanced);
}

/// Ascending by key. `glanced`: see ThreadSeen.
[[nodiscard]] std::vector<ThreadSeen> seen_of(Hypervisor hypervisor,
                                              const std::vector<Thread>& threads, bool glanced);

/// Value: a process whose threads are all where they belong.
struct ProcessSeen {
  TaskKey key;
  ProcessRole role = ProcessRole::descendant;
  Hypervisor hypervisor = Hypervisor::unknown;
  Instant since{0};                         ///< its threads are known as of then
  Packed<std::vector<ThreadSeen>> threads;  ///< ascending by key
  [[nodiscard]] bool runs_vm() const { return kcg::runs_vm(role, hypervisor); }
};

/// Value: what is known of the VM beside its threads.
struct VmSeen {
  bool kvm_knows = false;   ///< this VM
  bool incomplete = false;  ///< and a vCPU of it whose thread it does not know yet
  bool missing = false;     ///< and we neither
};

/// One process, now. It looks once.
class Eye final {
 public:
  /// One with more than `most` threads is not looked at. `seen` outlives it.
  Eye(ProcView& proc, const Host& host, std::size_t most, const ProcessSeen& seen);

  /// At all of them. `kvm_tells`: of each vCPU that the VMM may get. False: not readable.
  [[nodiscard]] bool look(bool kvm_tells);
  /// At those that stirred, and those that nobody knew: the others are as they were. KVM is asked
  /// where it did not know all (`vm`). False: not readable.
  [[nodiscard]] bool look_at(const StirredThreads& stirred, const VmSeen& vm);

  [[nodiscard]] bool all_as_seen() const { return all_as_seen_; }
  /// What there is now, ascending by key.
  [[nodiscard]] const std::vector<ThreadSeen>& threads() const { return threads_; }
  [[nodiscard]] const VmSeen& vm() const { return vm_; }
  /// For the look that follows, unless all is as it was seen.
  [[nodiscard]] ThreadsRead::OfOne take() { return std::move(read_); }

 private:
  [[nodiscard]] Pid pid() const { return seen_.key.pid; }
  [[nodiscard]] std::optional<std::vector<Pid>> tids();
  [[nodiscard]] bool has_leader() const;
  [[nodiscard]] bool read(std::vector<ThreadFacts>& threads);
  [[nodiscard]] bool read_for_a_look(const std::vector<ThreadSeen>& others);
  // KVM's word
  [[nodiscard]] bool asks_threads(const KvmVcpus& vcpus, bool kvm_tells) const;
  [[nodiscard]] Result<KvmVcpus> known_vcpus() const;
  [[nodiscard]] bool confirmed(const KvmVcpus& vcpus) const;
  [[nodiscard]] std::size_t count_vcpus() const;
  // what was seen, and what is
  [[nodiscard]] bool are_as_seen();
  [[nodiscard]] bool one_that_weighs_ended() const;
  [[nodiscard]] bool as_seen(const ThreadSeen& thread);

  ProcView& proc_;
  const Host& host_;
  std::size_t most_;
  const ProcessSeen& seen_;
  const std::vector<ThreadSeen> known_;  ///< those seen
  Process process_;
  std::vector<ThreadSeen> threads_;
  ThreadsRead::OfOne read_;
  std::optional<Result<std::vector<std::string>>> leaders_groups_;
  VmSeen vm_;
  bool all_as_seen_ = false;
};

}  // namespace kcg
