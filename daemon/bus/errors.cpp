// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/errors.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "daemon/bus/names.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {

namespace {

std::string_view short_name(int code) {
  switch (static_cast<ManagerError>(code)) {
    case ManagerError::no_such_sandbox:
      return "NoSuchSandbox";
    case ManagerError::ambiguous_id:
      return "AmbiguousId";
    case ManagerError::invalid_argument:
      return "InvalidArgument";
    case ManagerError::limit_reached:
      return "LimitReached";
    case ManagerError::observe_only:
      return "ObserveOnly";
    case ManagerError::config:
      return "Config";
  }
  return code == 0 ? "InvalidArgument" : "Kernel";
}

}  // namespace

std::string error_name(const Error& error) {
  return fmt::format("{}{}", kErrorPrefix, short_name(error.code));
}

sdbus::Error bus_error(const Error& error) {
  return make_error(error_name(error), printable_lines(valid_utf8(error.text)));
}

void require_root(uid_t caller, const std::string& member) {
  if (caller == 0) return;
  throw make_error(std::string(kErrorPrefix) + "NotPermitted",
                   fmt::format("{} is for root only, and uid {} called it", member, caller));
}

}  // namespace kcg::bus
