// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/compat.hpp"

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

namespace {

constexpr const char* kScratch = "io.katacontainers.Scratch";

struct CloseBus {
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};

/// Throws when nobody listens there. The library does so, too, but loses the memory that it began
/// with, and a bus may be away for long.
void require_listener(const std::string& address) {
  sd_bus* begun = nullptr;
  int r = sd_bus_new(&begun);
  const std::unique_ptr<sd_bus, CloseBus> bus(begun);
  if (r >= 0) r = sd_bus_set_address(begun, address.c_str());
  if (r >= 0) r = sd_bus_start(begun);
  if (r < 0) throw sdbus::createError(-r, "Failed to open the bus");
}

}  // namespace

std::unique_ptr<sdbus::IConnection> connect(const std::string& address) {
  if (address == "system") return sdbus::createSystemBusConnection();
  require_listener(address);
  return sdbus::createSessionBusConnectionWithAddress(address);
}

#if KCG_SDBUS_2

PollNeeds poll_needs(const sdbus::IConnection& connection) {
  // PollData::eventFd is for changes that another thread makes while the loop sleeps; we have one
  // thread, and it asks here before each sleep.
  const auto data = connection.getEventLoopPollData();
  PollNeeds needs{data.fd, data.events, std::nullopt};
  if (data.timeout != std::chrono::microseconds::max()) needs.deadline = data.timeout;
  return needs;
}

void process_one(sdbus::IConnection& connection) { (void)connection.processPendingEvent(); }

Call call_in_hand(const sdbus::IObject& object) {
  return Call(object.getCurrentlyProcessedMessage());
}

sdbus::Signal scratch_message(sdbus::IObject& object) {
  return object.createSignal(sdbus::InterfaceName{kScratch}, sdbus::SignalName{"Scratch"});
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

PollNeeds poll_needs(const sdbus::IConnection& connection) {
  const auto data = connection.getEventLoopPollData();
  PollNeeds needs{data.fd, data.events, std::nullopt};
  if (data.timeout_usec != std::numeric_limits<std::uint64_t>::max())
    needs.deadline = std::chrono::microseconds(data.timeout_usec);
  return needs;
}

void process_one(sdbus::IConnection& connection) { (void)connection.processPendingRequest(); }

Call call_in_hand(const sdbus::IObject& object) {
  return Call(*object.getCurrentlyProcessedMessage());
}

sdbus::Signal scratch_message(sdbus::IObject& object) {
  return object.createSignal(kScratch, "Scratch");
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

Call::Call(sd_bus_message* message, const sdbus::Message& kin) : Call(kin) {
  sd_bus_message_unref(get());
  msg_ = sd_bus_message_ref(message);
}

std::string Call::caller() const {
  const char* const sender = sd_bus_message_get_sender(get());
  return sender == nullptr ? "" : sender;
}

void Call::refuse(const sdbus::Error& error) const { createErrorReply(error).send(); }

sd_bus* bus_of(sdbus::IObject& object) {
  return sd_bus_message_get_bus(Call(scratch_message(object)).get());
}

}  // namespace kcg::bus
