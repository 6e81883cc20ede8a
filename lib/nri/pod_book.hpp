// SPDX-License-Identifier: Apache-2.0
//
// Which pods the engine has told of (L2). What a new Synchronize does not list is forgotten; until
// it comes, what was known stays, also while nobody is connected.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "model/ids.hpp"
#include "nri/news.hpp"

namespace kcg::nri {

/// Value: see the head of the file. Bounded: further pods and containers are not kept.
class PodBook final {
 public:
  /// Pods of which something was told.
  [[nodiscard]] std::set<SandboxId> take(const News& news);
  /// nullptr: nothing was told of it.
  [[nodiscard]] const NodeData* find(const SandboxId& id) const;

  static constexpr std::size_t kMostPods = 16'384;
  static constexpr std::size_t kMostContainers = 1024;  ///< of one pod

 private:
  using Pods = std::map<SandboxId, NodeData>;

  static void note_pod(Pods& pods, const PodNews& news, std::set<SandboxId>& touched);
  static std::set<SandboxId> note(Pods& pods, const News& news);

  Pods pods_;
  Pods listed_;  ///< by the parts of a Synchronize that is not complete
};

}  // namespace kcg::nri
