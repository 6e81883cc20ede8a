// SPDX-License-Identifier: Apache-2.0
//
// Which conditions are news between two moments (L4): what the journal says and the bus signals.
#pragma once

#include <cstdint>
#include <vector>

#include "model/condition.hpp"

namespace kcg {

/// Value: one thing to tell.
struct ConditionNews {
  enum class What : std::uint8_t {
    raised,
    again,  ///< it holds already, and something new has happened: a second kill, another file
    cleared
  };
  What what = What::raised;
  Condition condition;
  bool operator==(const ConditionNews&) const = default;
};

/// Cleared ones first. Numbers that wobble (bytes used, seconds left) are no news; another kill,
/// process or stranger always is.
[[nodiscard]] std::vector<ConditionNews> condition_news(const std::vector<Condition>& before,
                                                        const std::vector<Condition>& after);

/// True where each event counts, however many there are: no limit on how often it is told.
[[nodiscard]] bool told_each_time(ConditionName condition);

/// The conditions of a record or of a view, without their times.
template <class Held>
[[nodiscard]] std::vector<Condition> conditions_of(const Held& held) {
  std::vector<Condition> all;
  for (const auto& one : held.conditions) all.push_back(one.condition);
  return all;
}

}  // namespace kcg
