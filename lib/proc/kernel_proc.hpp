// SPDX-License-Identifier: Apache-2.0
//
// ProcView on the real /proc (L5). Everything is opened beneath the pinned root of /proc; facts go
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
#include "model/fields.hpp"
#include "proc/facts.hpp"
#include "proc/kvm_debugfs.hpp"
#include "proc/patient_reader.hpp"
#include "proc/stat_files.hpp"
#include "proc/task_names.hpp"
#include "proc/threads_ahead.hpp"
#include "proc/view.hpp"

namespace kcg {

/// Resource: owns the root descriptor and what is kept per process.
class KernelProc final : public ProcView {
 public:
  /// Facts of processes are kept up to this many bytes; beyond, the longest unused quarter of the
  /// processes is dropped. Room for some 2,500: one takes about 400 bytes. Whoever is not among
  /// them is read again, two files each, by the next look.
  static constexpr std::size_t kMaxKept = std::size_t{1} << 20;
  /// A VMM of QEMU's has 300 mappings, 240 KiB as smaps tells them.
  static constexpr PatientReader::Limits kMappings = {16, std::chrono::milliseconds(5),
                                                      std::size_t{1} << 20};
  [[nodiscard]] static Result<std::unique_ptr<KernelProc>> open(
      const std::string& proc_root = "/proc", const std::string& kvm = kKvmDebugfs,
      std::size_t max_kept_bytes = kMaxKept, PatientReader::Limits reading = {},
      PatientReader::Limits mappings = kMappings);

  [[nodiscard]] Result<std::vector<Pid>> pids() override;
  [[nodiscard]] Result<TaskStat> stat(Pid pid) override;
  [[nodiscard]] Result<TaskStat> thread_stat(Pid pid, Pid tid) override;
  /// The kernel's taskstats tell it; of whom they do not, /proc does.
  [[nodiscard]] std::vector<Result<TaskName>> names(const std::vector<Pid>& pids) override;
  [[nodiscard]] Result<ProcFacts> identity(Pid pid) override;
  [[nodiscard]] Result<ProcFacts> facts(Pid pid) override;
  /// Uses /proc/<pid>/task/*/children; without CONFIG_PROC_CHILDREN, the parents of all processes.
  [[nodiscard]] Result<std::vector<Pid>> children(Pid pid) override;
  [[nodiscard]] Result<std::vector<ThreadFacts>> threads(Pid pid, const Host& host,
                                                         std::size_t max) override;
  [[nodiscard]] bool read_ahead(const TaskKey& process, const Host& host,
                                const std::function<bool()>& stop) override;
  void use_ahead(bool use) override;
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
  /// The id that was given last, as the kernel tells it to whom /proc shows all that there are.
  [[nodiscard]] std::optional<Pid> last_born() override;
  void forget(Pid pid) override;
  void forget_all_but(const std::vector<Pid>& living) override;

  [[nodiscard]] std::size_t kept() const { return facts_.size(); }
  [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Kept {
    Packed<ProcFacts> facts;
    std::uint64_t used = 0;  ///< larger = later
    /// Bytes that keeping it takes, roughly.
    [[nodiscard]] std::size_t size() const { return sizeof *this + facts.size(); }
  };
  using Facts = std::unordered_map<Pid, Kept>;
  /// Value: the threads of a process, listed.
  struct Tasks {
    Dir dir;
    std::vector<Pid> tids;
  };
  /// Value: what is read of a process before its command line.
  struct Seen {
    std::optional<Dir> process;  ///< nullopt: all of its facts were kept
    ProcFacts facts;
  };
  KernelProc(Dir root, std::optional<TaskNames> names, Fd births, OwnIdentity own, std::string kvm,
             std::size_t max_kept_bytes, PatientReader::Limits reading,
             PatientReader::Limits mappings)
      : root_(std::move(root)),
        names_(std::move(names)),
        births_(std::move(births)),
        own_(std::move(own)),
        kvm_(std::move(kvm)),
        max_kept_bytes_(max_kept_bytes),
        max_cmdline_(reading.bytes),
        max_mappings_(mappings.bytes),
        reader_(reading),
        mappings_reader_(mappings) {}
  [[nodiscard]] Result<ProcStat> task_stat(Pid pid, Pid tid);
  [[nodiscard]] Result<Tasks> list(Pid pid) const;
  [[nodiscard]] bool all_are_with(const ThreadFacts& leader, const Host& host);
  [[nodiscard]] Result<Seen> see(Pid pid);
  [[nodiscard]] std::optional<Seen> seen_again(Pid pid);
  [[nodiscard]] Result<std::vector<Pid>> children_by_parent(Pid pid);
  void keep(const ProcFacts& facts);
  Facts::iterator drop(Facts::iterator one);

  Dir root_;
  std::optional<TaskNames> names_;  ///< of the kernel's own /proc, where it tells them
  Fd births_;                       ///< -1: not told
  StatFiles stats_;
  std::optional<Dir> unified_;  ///< the root of v2
  OwnIdentity own_;
  KvmDebugfs kvm_;
  std::optional<Seen> last_seen_;  ///< by identity(): with its directory
  bool in_look_ = false;
  std::unordered_map<Pid, Tasks> walked_;  ///< in this look, by children(): until threads()
  std::size_t max_kept_bytes_;
  std::size_t max_cmdline_;
  std::size_t max_mappings_;
  PatientReader reader_;
  PatientReader mappings_reader_;
  ThreadsAhead ahead_;
  Facts facts_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace kcg
