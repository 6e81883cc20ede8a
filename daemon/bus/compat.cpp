// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/compat.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>

// The virtual table items came with 2.0, and with them the strong name types.
#if __has_include(<sdbus-c++/VTableItems.h>)
#define KCG_SDBUS_2 1
#else
#define KCG_SDBUS_2 0
#endif

namespace kcg::bus {

std::unique_ptr<sdbus::IConnection> connect(const std::string& address) {
  if (address == "system") return sdbus::createSystemBusConnection();
  return sdbus::createSessionBusConnectionWithAddress(address);
}

#if KCG_SDBUS_2

void request_name(sdbus::IConnection& connection, const std::string& name) {
  connection.requestName(sdbus::ServiceName{name});
}

PollNeeds poll_needs(const sdbus::IConnection& connection) {
  // PollData::eventFd is for changes that another thread makes while the loop sleeps; we have one
  // thread, and it asks here before each sleep.
  const auto data = connection.getEventLoopPollData();
  PollNeeds needs{data.fd, data.events, std::nullopt};
  if (data.timeout != std::chrono::microseconds::max()) needs.deadline = data.timeout;
  return needs;
}

void process_one(sdbus::IConnection& connection) { (void)connection.processPendingEvent(); }

uid_t caller_uid(const sdbus::IObject& object) {
  return object.getCurrentlyProcessedMessage().getCredsEuid();
}

sdbus::Error make_error(const std::string& name, const std::string& text) {
  return {sdbus::Error::Name{name}, text};
}

void properties_changed(sdbus::IObject& object, const char* interface,
                        const std::vector<std::string>& names) {
  std::vector<sdbus::PropertyName> typed;
  for (const auto& name : names) typed.emplace_back(name);
  object.emitPropertiesChangedSignal(interface, typed);
}

std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection, const std::string& name,
                                          const std::string& path) {
  return sdbus::createProxy(connection, sdbus::ServiceName{name}, sdbus::ObjectPath{path});
}

#else

void request_name(sdbus::IConnection& connection, const std::string& name) {
  connection.requestName(name);
}

PollNeeds poll_needs(const sdbus::IConnection& connection) {
  const auto data = connection.getEventLoopPollData();
  PollNeeds needs{data.fd, data.events, std::nullopt};
  if (data.timeout_usec != std::numeric_limits<std::uint64_t>::max())
    needs.deadline = std::chrono::microseconds(data.timeout_usec);
  return needs;
}

void process_one(sdbus::IConnection& connection) { (void)connection.processPendingRequest(); }

uid_t caller_uid(const sdbus::IObject& object) {
  return object.getCurrentlyProcessedMessage()->getCredsEuid();
}

sdbus::Error make_error(const std::string& name, const std::string& text) { return {name, text}; }

void properties_changed(sdbus::IObject& object, const char* interface,
                        const std::vector<std::string>& names) {
  object.emitPropertiesChangedSignal(interface, names);
}

std::unique_ptr<sdbus::IProxy> make_proxy(sdbus::IConnection& connection, const std::string& name,
                                          const std::string& path) {
  return sdbus::createProxy(connection, name, path);
}

#endif

sdbus::Slot before_calls(sdbus::IConnection& connection, const char* interface, const char* member,
                         std::function<void()> see) {
  const auto match =
      fmt::format("type='method_call',interface='{}',member='{}'", interface, member);
  // Returning lets the message go on to its object.
  const auto handler = [see = std::move(see)](auto&&) { see(); };
#if KCG_SDBUS_2
  return connection.addMatch(match, handler, sdbus::return_slot);
#else
  return connection.addMatch(match, handler);
#endif
}

}  // namespace kcg::bus
