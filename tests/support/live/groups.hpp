// SPDX-License-Identifier: Apache-2.0
//
// The test's own corner of the machine's cgroup trees: one uniquely named group in every managed v1
// hierarchy and in cgroup2. Whatever a test starts begins in its `system` group, so that the whole
// corner can be killed through cgroup2 and removed, even by a later run.
#pragma once

#include <string>
#include <vector>

#include "standin/kata_groups.hpp"

namespace kcg::live {

enum class Tree { v1, v2 };

/// The names of all corners begin so.
inline constexpr const char* kCornerPrefix = "kcg-live-";

/// Resource: see the head of the file.
class Corner final {
 public:
  explicit Corner(Tree tree);
  ~Corner();
  Corner(const Corner&) = delete;
  Corner& operator=(const Corner&) = delete;

  [[nodiscard]] Tree tree() const { return tree_; }
  /// "/kcg-live-...": a path in every hierarchy.
  [[nodiscard]] const std::string& top() const { return top_; }
  /// The hierarchies that the daemon manages for this tree: all v1 ones, or cgroup2 alone.
  [[nodiscard]] const std::vector<standin::Mount>& managed() const;
  /// Directories for Command::groups: `system` in all hierarchies.
  [[nodiscard]] std::vector<std::string> system() const;
  /// Makes a group in every managed hierarchy, as the kubelet does (cpuset seeded).
  void make(const std::string& path) const;
  /// `path` in the hierarchy of a v1 controller; in cgroup2 for v2, whatever the controller.
  [[nodiscard]] std::string directory(const std::string& path,
                                      const std::string& controller = "cpu") const;
  /// All groups below the corner in the managed hierarchies whose name begins with `prefix`.
  [[nodiscard]] std::vector<std::string> find(const std::string& prefix) const;

 private:
  Tree tree_;
  std::string top_;
  std::vector<standin::Mount> v1_;
  std::vector<standin::Mount> v2_;
};

/// Where hierarchies of this version ("v1", "v2") are mounted: none on a machine that has the
/// other.
[[nodiscard]] std::vector<standin::Mount> mounts_of(const std::string& version);

/// Kills and removes every corner of runs that ended without doing so. The caller holds the lock.
void remove_old_corners();

}  // namespace kcg::live
