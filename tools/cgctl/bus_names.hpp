// SPDX-License-Identifier: Apache-2.0
//
// Who is on a bus. Blocking.
#pragma once

#include <string>

#include "base/result.hpp"
#include "daemon/bus/compat.hpp"

namespace kcg::cgctl {

/// Throws sdbus::Error.
[[nodiscard]] bool name_has_owner(sdbus::IConnection& connection, const std::string& name);
/// The same on the bus at an address. The error's code is 0: the bus cannot be reached.
[[nodiscard]] Result<bool> name_has_owner(const std::string& address, const std::string& name);

}  // namespace kcg::cgctl
