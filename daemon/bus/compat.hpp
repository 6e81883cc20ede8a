// SPDX-License-Identifier: Apache-2.0
//
// The one place that knows sdbus-c++ 1.2 (Debian 12) from 2.x (Debian 13) (L9). All else uses what
// both have in common, and these functions where they differ. They throw sdbus::Error as the
// library does; callers catch it at the border to the rest of the product.
#pragma once

#include <sdbus-c++/sdbus-c++.h>
#include <systemd/sd-bus.h>

#include <chrono>
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

/// "system", or an address such as "unix:path=/run/dbus/system_bus_socket". Waits until the bus has
/// answered: only for where that harms nobody.
[[nodiscard]] std::unique_ptr<sdbus::IConnection> connect(const std::string& address);

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

/// Resource: a method call that is answered later, or piece by piece, or that the library has not
/// seen: the message beneath the library's own.
class Call final : public sdbus::MethodCall {
 public:
  explicit Call(const sdbus::Message& message) { Message::operator=(message); }
  /// A message that a filter of libsystemd was given; `kin`: any one of the same connection.
  Call(sd_bus_message* message, const sdbus::Message& kin);

  [[nodiscard]] sd_bus_message* get() const { return static_cast<sd_bus_message*>(msg_); }
  /// The bus's own name for the caller.
  [[nodiscard]] std::string caller() const;
  void refuse(const sdbus::Error& error) const;
};

/// The call whose handler runs.
[[nodiscard]] Call call_in_hand(const sdbus::IObject& object);
/// A message of the object's connection that is never sent: to keep values in.
[[nodiscard]] sdbus::Signal scratch_message(sdbus::IObject& object);
/// The connection that the library keeps to itself. What it offers waits for the bus where
/// libsystemd need not.
[[nodiscard]] sd_bus* bus_of(sdbus::IObject& object);

[[nodiscard]] sdbus::Error make_error(const std::string& name, const std::string& text);
void properties_changed(sdbus::IObject& object, const char* interface,
                        const std::vector<std::string>& names);

/// A proxy without an event loop of its own: for blocking calls.
[[nodiscard]] std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection,
                                                        const std::string& name,
                                                        const std::string& path);

}  // namespace kcg::bus
