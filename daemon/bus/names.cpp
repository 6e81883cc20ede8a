// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/names.hpp"

#include <systemd/sd-bus.h>

#include <cstdlib>
#include <memory>

namespace kcg::bus {

std::string sandbox_path(const std::string& id) {
  const std::string prefix = std::string(kRootPath) + "/sandbox";
  char* encoded = nullptr;
  // It fails only for want of memory or for a prefix that is no object path; ours is one.
  if (sd_bus_path_encode(prefix.c_str(), id.c_str(), &encoded) < 0) return prefix + "/_";
  const std::unique_ptr<char, decltype(&std::free)> owner(encoded, &std::free);
  return encoded;
}

}  // namespace kcg::bus
