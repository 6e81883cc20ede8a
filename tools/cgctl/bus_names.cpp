// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/bus_names.hpp"

namespace kcg::cgctl {

bool name_has_owner(sdbus::IConnection& connection, const std::string& name) {
  const auto proxy = bus::make_proxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
  bool owned = false;
  proxy->callMethod("NameHasOwner")
      .onInterface("org.freedesktop.DBus")
      .withArguments(name)
      .storeResultsTo(owned);
  return owned;
}

Result<bool> name_has_owner(const std::string& address, const std::string& name) {
  try {
    return name_has_owner(*bus::connect(address), name);
  } catch (const sdbus::Error& error) {
    return fail(0, "bus '{}': {}", address, error.getMessage());
  }
}

}  // namespace kcg::cgctl
