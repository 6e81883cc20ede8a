// SPDX-License-Identifier: Apache-2.0
//
// What Kata has said since a look, considered with what that look saw (L7, pure): Kata writes its
// state several times in a sandbox's first seconds, and mostly nothing comes of it. Only says when
// no look is needed; what there is to do is found by a look.
#pragma once

#include <optional>
#include <vector>

#include "identify/recognise.hpp"
#include "model/condition.hpp"
#include "model/config.hpp"
#include "model/desired.hpp"
#include "model/observed.hpp"
#include "pass/pass.hpp"
#include "record/record.hpp"

namespace kcg {

/// Value: what a look has left.
struct LastLook {
  Observed observed;
  Desired want;                 ///< but how it was derived
  std::vector<Condition> said;  ///< Assembled::conditions
  bool groups_hold = false;     ///< see seen_groups.hpp
};

/// Of a pass that was finished; `record` as it is after that. nullopt: there are so many tasks
/// that another look is no dearer than to keep them all, and to think of each.
[[nodiscard]] std::optional<LastLook> last_look(Round round, const Record& record,
                                                std::vector<Condition> said);

/// True: nothing but Kata's word has changed, and that look would have wanted the same. Then `last`
/// and `record` know Kata's word.
[[nodiscard]] bool still_wanted(const Config& config, const Assembled& now, LastLook& last,
                                Record& record);

}  // namespace kcg
