// SPDX-License-Identifier: Apache-2.0
//
// The one place that knows sdbus-c++ 1.2 (Debian 12) from 2.x (Debian 13) (L6). All else uses what
// both have in common, and these functions where they differ. They throw sdbus::Error as the
// library does; callers catch it at the border to the rest of the product.
#pragma once

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kcg::bus {

/// a{sv} of the bus.
using Properties = std::map<std::string, sdbus::Variant>;
/// aa{sv} of the bus.
using PropertiesList = std::vector<Properties>;

/// "system", or an address such as "unix:path=/run/dbus/system_bus_socket".
[[nodiscard]] std::unique_ptr<sdbus::IConnection> connect(const std::string& address);
void request_name(sdbus::IConnection& connection, const std::string& name);

/// Value: what an event loop has to wait for.
struct PollNeeds {
  int fd = -1;
  short events = 0;
  /// CLOCK_MONOTONIC; nullopt: no timeout.
  std::optional<std::chrono::microseconds> deadline;
};
[[nodiscard]] PollNeeds poll_needs(const sdbus::IConnection& connection);
/// Handles one message or time-out.
void process_one(sdbus::IConnection& connection);

/// `see` is told of each call of an interface's member before it is handled. The slot must not
/// outlive the connection.
[[nodiscard]] sdbus::Slot before_calls(sdbus::IConnection& connection, const char* interface,
                                       const char* member, std::function<void()> see);

/// Effective uid of the caller whose method is being handled, as the bus recorded it when the
/// caller connected.
[[nodiscard]] uid_t caller_uid(const sdbus::IObject& object);

[[nodiscard]] sdbus::Error make_error(const std::string& name, const std::string& text);
void properties_changed(sdbus::IObject& object, const char* interface,
                        const std::vector<std::string>& names);

/// A proxy without an event loop of its own: for blocking calls.
[[nodiscard]] std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection,
                                                        const std::string& name,
                                                        const std::string& path);

}  // namespace kcg::bus
