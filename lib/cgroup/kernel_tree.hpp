// SPDX-License-Identifier: Apache-2.0
//
// CgroupTree on the real mounts (L5): one pinned root directory per hierarchy, everything else is
// opened beneath it. v1 and v2 need no different code here: the rules are the kernel's. Directories
// of groups are kept open through one look and what follows from it: six components down that saves
// 2 of 6 us for each file. Longer than that a kept one would only go stale with its group.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dir.hpp"
#include "base/reserve.hpp"
#include "cgroup/tree.hpp"

namespace kcg {

/// Resource: owns the root descriptors. Repeats a call only after EINTR; every other errno is the
/// caller's to judge (EINVAL of a task that is still being created included).
class KernelTree final : public CgroupTree {
 public:
  /// Opens every mount point of `host`; their names become the GroupRefs' hierarchies. `run_root`:
  /// whose marks are ours, see model/mark.hpp; "": the node's own.
  [[nodiscard]] static Result<std::unique_ptr<KernelTree>> open(Host host,
                                                                std::string run_root = "");

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
  /// An empty text is sent as a newline: write(2) of no bytes would not reach the file.
  [[nodiscard]] Status write(const GroupRef& group, const std::string& file,
                             std::string_view text) override;
  [[nodiscard]] Status set_mark(const GroupRef& group, std::string_view id) override;
  [[nodiscard]] Status clear_mark(const GroupRef& group) override;
  [[nodiscard]] Status change_devices(const GroupRef& group, const DeviceChange& change) override;

 private:
  KernelTree(Host host, std::string run_root, std::map<HierarchyName, Dir> roots)
      : host_(std::move(host)), run_root_(std::move(run_root)), roots_(std::move(roots)) {}
  [[nodiscard]] Result<const Dir*> root(const GroupRef& group) const;
  /// As it stands now.
  [[nodiscard]] Result<std::shared_ptr<const Dir>> open_group(const GroupRef& group) const;
  /// The one that is held, or as it stands now.
  [[nodiscard]] Result<std::shared_ptr<const Dir>> the_group(const GroupRef& group) const;
  /// nullptr: none is.
  [[nodiscard]] const Dir* held(const GroupRef& group) const;
  [[nodiscard]] Result<std::optional<Mark>> mark_of(const Dir& dir, const GroupRef& group) const;
  [[nodiscard]] Result<bool> roots_up_to_the_top(const GroupRef& group) const;

  Host host_;
  std::string run_root_;
  std::map<HierarchyName, Dir> roots_;
  int first_not_held_ = first_for_looks();  ///< descriptor
  std::optional<GroupRef> last_made_;       ///< and not marked yet
  mutable bool holding_ = false;
  mutable std::map<GroupRef, std::shared_ptr<const Dir>> held_;
};

}  // namespace kcg
