// SPDX-License-Identifier: Apache-2.0
//
// Our errors on the bus, and who may call what (L9).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "daemon/bus/compat.hpp"

namespace kcg::bus {

/// Name on the bus of an error of Manager: one of ManagerError by its code, else Kernel for an
/// errno, else InvalidArgument.
[[nodiscard]] std::string error_name(const Error& error);
[[nodiscard]] sdbus::Error bus_error(const Error& error);

/// Throws what failed; returns what did not.
template <class T>
T or_throw(Result<T> result) {
  if (!result) throw bus_error(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Throws NotPermitted unless root is asking. The bus policy says the same; this check also holds
/// on a bus that was set up without our policy.
void require_root(uid_t caller, const std::string& member);

}  // namespace kcg::bus
