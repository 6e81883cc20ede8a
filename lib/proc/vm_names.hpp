// SPDX-License-Identifier: Apache-2.0
//
// Names of the VMs that KVM has, by which thread made them and by whether anybody claims them (L5,
// internal to proc/). The directory is listed once and heard of from then on: a look at a new VMM
// costs the same on a node with one VM and with thousands. Source: fs/debugfs/inode.c, which tells
// inotify of each directory.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dir.hpp"
#include "base/fd.hpp"
#include "model/file_id.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: an inotify descriptor. Where there is none to be had the directory is listed each
/// time.
class VmNames final {
 public:
  /// What has come and gone since. To be called before the names are asked for.
  [[nodiscard]] Status refresh(const Dir& kvm);

  /// The VM that this thread has made.
  [[nodiscard]] std::optional<std::string> made_by(Pid tid) const;
  /// Some that nobody claims, and others the next time.
  [[nodiscard]] std::vector<std::string> unclaimed(std::size_t most);
  void claim(const std::string& name);
  /// Nobody claims it any more.
  void release(const std::string& name);

  /// Times that the directory was listed.
  [[nodiscard]] std::size_t listed() const { return listed_; }

 private:
  [[nodiscard]] bool hear();
  [[nodiscard]] bool take(std::uint32_t mask, std::string_view name);
  void watch(const Dir& kvm);
  [[nodiscard]] Status list(const Dir& kvm);

  Fd events_;
  std::optional<FileId> watched_;      ///< the directory, if all that happened in it is known
  std::map<std::string, bool> names_;  ///< whether it is claimed
  std::set<std::string> unclaimed_;
  std::string last_;  ///< of unclaimed_, that was given
  std::size_t listed_ = 0;
};

}  // namespace kcg
