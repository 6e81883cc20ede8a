// SPDX-License-Identifier: Apache-2.0
//
// Whole-node searches (L6), made at start and after a source lost events; never per sandbox.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "cgroup/tree.hpp"
#include "model/ids.hpp"
#include "observe/shims.hpp"
#include "proc/view.hpp"

namespace kcg {

/// What shims_claim() says of all processes, by sandbox id.
[[nodiscard]] std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc,
                                                            const BundleOwner& owner);
/// Of these processes only.
[[nodiscard]] std::map<SandboxId, std::set<Pid>> find_shims(ProcView& proc,
                                                            const std::vector<Pid>& pids,
                                                            const BundleOwner& owner);

/// Groups that carry our mark and stand where a layout puts them, by the sandbox id in it.
[[nodiscard]] std::map<SandboxId, std::set<GroupRef>> find_marked(const CgroupTree& tree);

/// Resource: find_marked() a portion at a time.
class MarkSearch final {
 public:
  /// `noted`: whose groups were being made, and may carry no mark yet.
  explicit MarkSearch(const CgroupTree& tree, std::set<SandboxId> noted = {});
  /// Looks at so many groups more; false: there are no more.
  bool look(std::size_t most);
  [[nodiscard]] const std::map<SandboxId, std::set<GroupRef>>& found() const { return found_; }

 private:
  void look_at(const GroupRef& ref);

  const CgroupTree& tree_;
  std::set<SandboxId> noted_;
  std::vector<GroupRef> open_;
  std::map<SandboxId, std::set<GroupRef>> found_;
};

}  // namespace kcg
