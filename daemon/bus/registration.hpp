// SPDX-License-Identifier: Apache-2.0
//
// The a{sv} of RegisterSandbox -> Registration (L9). Strict: an unknown key, a wrong type or a
// descriptor that is no pidfd of a living process is an error that names it.
#pragma once

#include <string>
#include <vector>

#include "daemon/bus/compat.hpp"
#include "model/bundle.hpp"

namespace kcg::bus {

[[nodiscard]] Result<Registration> registration_from(const Properties& properties);

/// All keys, sorted: the daemon's Features tell them.
[[nodiscard]] std::vector<std::string> registration_keys();

}  // namespace kcg::bus
