// SPDX-License-Identifier: Apache-2.0
//
// What docs/layouts.md allows where Kata may pin its vCPUs, written by other means than the
// product's.
#pragma once

#include <set>
#include <string>

#include "model/observed.hpp"
#include "model/plan.hpp"
#include "support/allowed_places.hpp"

namespace kcg::test {

/// The rules for one sandbox as it was observed.
class KatasCpus final {
 public:
  KatasCpus(const Observed& observed, const Place& place) : observed_(observed), place_(place) {}

  /// "" = allowed, else the rule that it breaks. `marked`: the groups that are ours by now;
  /// `renews`: the step writes anew which mark stands there; `legacy`: the constrained or the
  /// unconstrained group.
  [[nodiscard]] std::string verdict(const Step& step, const std::set<GroupRef>& marked, bool renews,
                                    const std::set<std::string>& legacy) const;

 private:
  [[nodiscard]] bool may_pin() const;
  [[nodiscard]] bool kata_has_cpuset(const std::string& hierarchy,
                                     const std::set<std::string>& legacy) const;
  [[nodiscard]] bool vmm_seen() const;
  [[nodiscard]] bool holds_vcpus(const GroupRef& group) const;

  const Observed& observed_;
  const Place& place_;
};

}  // namespace kcg::test
