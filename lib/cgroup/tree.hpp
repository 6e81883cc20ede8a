// SPDX-License-Identifier: Apache-2.0
//
// The seam to cgroup file systems (L4). Two implementations: KernelTree (real mounts) and FakeTree
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

namespace kcg {

inline constexpr const char* kMarkAttribute = "user.kata-cgroupd";

/// Interface: directories and control files of all managed hierarchies. Errors carry the kernel's
/// errno in `code` and name group, file and value in the text.
class CgroupTree {
 public:
  virtual ~CgroupTree() = default;
  [[nodiscard]] virtual const Host& host() const = 0;

  /// Contents of a control file, without the trailing newline. ENOENT: no such group or file.
  [[nodiscard]] virtual Result<std::string> read(const GroupRef& group,
                                                 const std::string& file) const = 0;
  /// Inode of the directory. ENOENT: no such group.
  [[nodiscard]] virtual Result<std::uint64_t> inode(const GroupRef& group) const = 0;
  /// Value of the mark; nullopt: the group exists and carries none.
  [[nodiscard]] virtual Result<std::optional<std::string>> mark(const GroupRef& group) const = 0;
  /// Names of child groups, sorted.
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
  [[nodiscard]] virtual Status set_mark(const GroupRef& group, std::string_view value) = 0;
  /// Attaches a program that is loaded already, or takes it off. ENOENT: no such program, or it is
  /// not attached here; EPERM: a group above allows none, or the flags differ from those in force.
  [[nodiscard]] virtual Status change_devices(const GroupRef& group,
                                              const DeviceChange& change) = 0;
};

}  // namespace kcg
