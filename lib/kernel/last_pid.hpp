// SPDX-License-Identifier: Apache-2.0
//
// /proc/loadavg (L2), the part that is no load. Source: proc(5), proc_loadavg(5).
#pragma once

#include <optional>
#include <string_view>

#include "model/ids.hpp"

namespace kcg {

/// The id that a process or a thread was given last: the last of five fields. nullopt: it is none.
[[nodiscard]] std::optional<Pid> last_pid(std::string_view loadavg);

}  // namespace kcg
