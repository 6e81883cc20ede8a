// SPDX-License-Identifier: Apache-2.0
//
// The seam to cgroup file systems (L5). Two implementations: KernelTree (real mounts) and FakeTree
// (tests/support, in memory, with the kernel's errnos). One contract suite holds both to the same
// behaviour. Nothing but apply/ calls the writing members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/devices.hpp"
#include "model/host.hpp"
#include "model/mark.hpp"

namespace kcg {

/// Control files by their names, which are constants.
using FileNames = std::vector<const char*>;

/// Whether a look asks for the mark, too.
enum class AskMark : std::uint8_t { yes, no };

/// Value: what one look at a group tells.
struct GroupSeen {
  std::optional<Mark> mark;                ///< nullopt, too, where it was not asked for
  std::vector<Result<std::string>> files;  ///< those that were asked for, in their order
};

/// Interface: directories and control files of all managed hierarchies. Errors carry the kernel's
/// errno in `code` and name group, file and value in the text.
class CgroupTree {
 public:
  virtual ~CgroupTree() = default;
  [[nodiscard]] virtual const Host& host() const = 0;

  /// From now on the directories that are looked at, marked or made something of stay open, and
  /// what is done to such a group, or right below it, is done to the very directory that was looked
  /// at last: ENOENT if it has gone, also where another one has taken its place (a mark is then set
  /// on what nobody sees any more). false: until here.
  virtual void hold(bool on) const = 0;

  /// Contents of a control file, without the trailing newline. ENOENT: no such group or file.
  [[nodiscard]] virtual Result<std::string> read(const GroupRef& group,
                                                 const std::string& file) const = 0;
  /// Inode of the directory. ENOENT: no such group.
  [[nodiscard]] virtual Result<std::uint64_t> inode(const GroupRef& group) const = 0;
  /// The mark, if it counts; nullopt: the group exists and carries none that does.
  [[nodiscard]] virtual Result<std::optional<Mark>> mark(const GroupRef& group) const = 0;
  /// Mark and control files, as mark() and read() tell them, all of one directory: nothing of
  /// another one that takes its place meanwhile is mixed in. ENOENT: no such group.
  [[nodiscard]] virtual Result<GroupSeen> see(const GroupRef& group, AskMark ask,
                                              const FileNames& files) const = 0;
  /// Names of child groups, sorted. Of one that is held, as it is there; ENOENT or none if it has
  /// gone.
  [[nodiscard]] virtual Result<std::vector<std::string>> children(const GroupRef& group) const = 0;

  /// Device programs attached to this very group of v2; none on v1 and where the kernel has no such
  /// programs. EPERM: they cannot be seen.
  [[nodiscard]] virtual Result<DevicePolicy> devices(const GroupRef& group) const = 0;

  /// One mkdir(2). EEXIST, ENOENT (no parent), EAGAIN (cgroup.max.descendants).
  [[nodiscard]] virtual Status make(const GroupRef& group) = 0;
  /// One rmdir(2). EBUSY: populated or has children.
  [[nodiscard]] virtual Status remove(const GroupRef& group) = 0;
  /// One write(2) to an existing control file.
  [[nodiscard]] virtual Status write(const GroupRef& group, const std::string& file,
                                     std::string_view text) = 0;
  /// Says that the group is ours and of this sandbox; one in the earlier form goes. EPERM: the
  /// directory is not root's, so its mark would not count.
  [[nodiscard]] virtual Status set_mark(const GroupRef& group, std::string_view id) = 0;
  /// Takes the mark off, in whichever form; done where there is none.
  [[nodiscard]] virtual Status clear_mark(const GroupRef& group) = 0;
  /// Attaches a program that is loaded already, or takes it off. ENOENT: no such program, or it is
  /// not attached here; EPERM: a group above allows none, or the flags differ from those in force.
  [[nodiscard]] virtual Status change_devices(const GroupRef& group,
                                              const DeviceChange& change) = 0;
};

/// Resource: holds what is looked at, to its end.
class Holding final {
 public:
  explicit Holding(const CgroupTree& tree) : tree_(tree) { tree_.hold(true); }
  ~Holding() { tree_.hold(false); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  const CgroupTree& tree_;
};

}  // namespace kcg
