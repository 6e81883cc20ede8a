// SPDX-License-Identifier: Apache-2.0
//
// A view between two looks (L4): there may be thousands, and most of one is its groups, whose paths
// begin alike and whose files have the same names everywhere.
#pragma once

#include <string>
#include <vector>

#include "model/view.hpp"

namespace kcg {

/// Value: see the head of the file.
class KeptView final {
 public:
  KeptView() = default;
  explicit KeptView(SandboxView view);

  /// As it was given.
  [[nodiscard]] SandboxView whole() const;
  void set_condition(SandboxState state, std::vector<ActiveCondition> conditions);

 private:
  SandboxView head_;    ///< without groups
  std::string groups_;  ///< one after the other, as text
};

}  // namespace kcg
