// SPDX-License-Identifier: Apache-2.0
//
// CgroupTree in memory, with the kernel's rules, errnos and formats, for v1 and v2. tests/contract
// holds it to the same behaviour as KernelTree on real mounts. Beyond the kernel it offers what
// tests need: a table of tasks, a log of all writes, and faults on demand.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/tree.hpp"
#include "support/fake_group.hpp"

namespace kcg::test {

/// Value: one mutating call as it arrived, and what it was answered.
struct FakeWrite {
  enum class Kind : std::uint8_t { make, remove, write, mark, unmark, device };
  Kind kind = Kind::write;
  GroupRef group;
  std::string file;  ///< write; "attach" or "detach" of a device program
  std::string text;  ///< write and mark; the program's id
  int code = 0;      ///< errno, 0 = done
  bool operator==(const FakeWrite&) const = default;
};
/// "mkdir cpu:/a", "write v2:/a memory.max=4096 -> EBUSY text".
[[nodiscard]] std::string describe(const FakeWrite& write);

/// Resource: see the head of the file. Not modelled: zombies, real-time tasks, the writer's own pid
/// written as "0", size suffixes, controllers' effects.
class FakeTree final : public CgroupTree {
 public:
  explicit FakeTree(Host host);
  ~FakeTree() override;
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  [[nodiscard]] const Host& host() const override { return host_; }
  void hold(bool on) const override;
  [[nodiscard]] Result<std::string> read(const GroupRef& group,
                                         const std::string& file) const override;
  [[nodiscard]] Result<std::uint64_t> inode(const GroupRef& group) const override;
  [[nodiscard]] Result<std::optional<Mark>> mark(const GroupRef& group) const override;
  [[nodiscard]] Result<GroupSeen> see(const GroupRef& group, AskMark ask,
                                      const FileNames& files) const override;
  [[nodiscard]] Result<std::vector<std::string>> children(const GroupRef& group) const override;
  [[nodiscard]] Result<DevicePolicy> devices(const GroupRef& group) const override;
  [[nodiscard]] Status make(const GroupRef& group) override;
  [[nodiscard]] Status remove(const GroupRef& group) override;
  [[nodiscard]] Status write(const GroupRef& group, const std::string& file,
                             std::string_view text) override;
  [[nodiscard]] Status set_mark(const GroupRef& group, std::string_view id) override;
  [[nodiscard]] Status clear_mark(const GroupRef& group) override;
  [[nodiscard]] Status change_devices(const GroupRef& group, const DeviceChange& change) override;

  // --- tasks ---

  /// A process in the root of every hierarchy; `tids` are its threads beside the leader.
  void add_process(Pid pid, const std::vector<Pid>& tids = {});
  /// A child process, born where `creator` (a thread of its parent) is.
  void fork_process(Pid creator, Pid child);
  /// A thread, born where `creator` is; 0 = the leader.
  void spawn_thread(Pid pid, Pid tid, Pid creator = 0);
  void exit_thread(Pid tid);
  void exit_process(Pid pid);
  /// A task that is still being created: attaching it is EINVAL.
  void set_forming(Pid tid, bool forming);
  /// Path of the task's group; "" when there is no such task or hierarchy.
  [[nodiscard]] std::string group_of(Pid tid, std::string_view hierarchy) const;
  /// Thread ids of a process, ascending; empty when there is no such process.
  [[nodiscard]] std::vector<Pid> threads_of(Pid pid) const;

  // --- the world outside, faults, the log ---

  /// What somebody else does meanwhile: neither logged nor counted nor failed.
  void outside(const std::function<void(CgroupTree&)>& act);
  /// Puts a text into a file whatever the rules say: usage, events.
  void set_file(const GroupRef& group, const std::string& file, std::string text);
  /// The mark of a version before; nothing else writes it.
  void set_earlier_mark(const GroupRef& group, const std::string& value);
  /// The mark's own text, as another daemon may have written it.
  void set_raw_mark(const GroupRef& group, const std::string& value);
  /// A user other than root owns the directory from now on.
  void give_away(const GroupRef& group);
  /// Asked before each read: an errno to fail with, or 0. Not what outside() reads.
  void on_read(std::function<int()> hook) { read_hook_ = std::move(hook); }
  /// The id of a new device program, for change_devices().
  [[nodiscard]] std::uint32_t load_device_program();
  /// Asking for device programs fails with this errno; 0 = it works.
  void hide_devices(int code) { devices_fault_ = code; }
  /// mkdir -p, as outside().
  void make_all(std::string_view hierarchy, std::string_view path);
  /// The k-th mutating call from now on fails (1 = the next); later ones work again. 0 = none.
  void fail_operation(std::size_t k, int code);
  /// Asked before each mutating call: an errno to fail with, or 0. It may change the tree's tasks.
  void on_operation(std::function<int(const FakeWrite&)> hook) { hook_ = std::move(hook); }
  [[nodiscard]] const std::vector<FakeWrite>& log() const { return log_; }
  void clear_log() { log_.clear(); }
  /// Paths of all groups of a hierarchy but the root, sorted.
  [[nodiscard]] std::vector<std::string> groups(std::string_view hierarchy) const;

 private:
  struct Task {
    Pid pid = 0;
    bool forming = false;
    std::vector<FakeGroup*> groups;  ///< parallel to host_.hierarchies
  };
  [[nodiscard]] std::size_t index_of(std::string_view hierarchy) const;
  [[nodiscard]] FakeGroup* find(const GroupRef& group) const;
  void hold_one(const GroupRef& group) const;
  /// Another directory is where one is held.
  [[nodiscard]] bool stale(const GroupRef& group) const;
  [[nodiscard]] Status perform(FakeWrite operation, const std::function<int()>& act);
  [[nodiscard]] int read_fault() const { return read_hook_ && !outside_ ? read_hook_() : 0; }
  [[nodiscard]] int make_now(const GroupRef& group);
  [[nodiscard]] int remove_now(const GroupRef& group);
  [[nodiscard]] int write_now(const GroupRef& group, const std::string& file,
                              std::string_view text);
  [[nodiscard]] int change_now(const GroupRef& group, const DeviceChange& change);
  [[nodiscard]] int attach(FakeGroup& to, std::string_view text, bool whole_process);
  void add_task(Pid tid, Pid pid, const std::vector<FakeGroup*>& groups);
  void move(Pid tid, FakeGroup& to);

  Host host_;
  std::vector<std::unique_ptr<FakeGroup>> roots_;  ///< parallel to host_.hierarchies
  std::map<Pid, Task> tasks_;
  std::vector<FakeWrite> log_;
  std::function<int(const FakeWrite&)> hook_;
  std::function<int()> read_hook_;
  std::size_t countdown_ = 0;
  int fault_ = 0;
  int devices_fault_ = 0;
  std::set<std::uint32_t> programs_;
  bool outside_ = false;
  std::uint64_t next_inode_ = 1;
  mutable bool holding_ = false;
  mutable std::map<GroupRef, std::uint64_t> held_;  ///< inodes
};

/// Hosts for tests: one unified hierarchy "v2", or one v1 hierarchy per controller.
[[nodiscard]] Host fake_host_v2(std::uint64_t cpus = 4);
[[nodiscard]] Host fake_host_v1(std::uint64_t cpus = 4);

}  // namespace kcg::test
