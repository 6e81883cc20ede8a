// SPDX-License-Identifier: Apache-2.0
//
// Threads of which something was heard, and that nobody has looked at since (L1).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "model/ids.hpp"

namespace kcg {

/// Value: those of one process.
class StirredThreads final {
 public:
  /// Of one with more of them it is not kept which they are.
  static constexpr std::size_t kMostKept = 256;

  /// `tids`: empty: some thread, or a vCPU, and nobody knows which.
  void add(const std::vector<Pid>& tids) {
    if (tids.empty() || tids_.size() + tids.size() > kMostKept) any_ = true;
    if (any_)
      tids_.clear();
    else
      tids_.insert(tids.begin(), tids.end());
  }
  [[nodiscard]] bool may_be_any() const { return any_; }
  [[nodiscard]] bool contains(Pid tid) const { return any_ || tids_.contains(tid); }

 private:
  std::set<Pid> tids_;
  bool any_ = false;
};

/// By process.
using Stirred = std::map<Pid, StirredThreads>;

}  // namespace kcg
