// SPDX-License-Identifier: Apache-2.0
//
// systemd's manager for somebody who may wait: the limits of scopes, and nothing else.
#pragma once

#include <memory>
#include <string>

#include "cgroup/systemd_manager.hpp"

namespace kcg::cgctl {

/// `address`: "system", "none" or a D-Bus address. The bus is not asked before there is something
/// to say. A success of set_limits() means that systemd has written them.
[[nodiscard]] std::unique_ptr<SystemdManager> make_unit_limits(std::string address);

}  // namespace kcg::cgctl
