// SPDX-License-Identifier: Apache-2.0
//
// The daemon's signals, by libsystemd alone: no object of ours is behind them.
#include <systemd/sd-bus.h>

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "daemon/bus/names.hpp"
#include "show/history_documents.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/watch.hpp"

namespace kcg::cgctl {

namespace {

/// Resource: a connection.
struct Closer {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
using Bus = std::unique_ptr<sd_bus, Closer>;

tl::unexpected<Error> lost(const std::string& address, int error) {
  return fail(static_cast<int>(ClientError::not_reachable), "bus '{}': {}", address,
              errno_text(-error));
}

int start(sd_bus* bus, const std::string& address) {
  if (const int r = sd_bus_set_address(bus, address.c_str()); r < 0) return r;
  if (const int r = sd_bus_set_bus_client(bus, 1); r < 0) return r;
  return sd_bus_start(bus);
}

Result<Bus> open_bus(const std::string& address) {
  sd_bus* bus = nullptr;
  int r = address == "system" ? sd_bus_open_system(&bus) : sd_bus_new(&bus);
  Bus out(bus);
  if (r >= 0 && address != "system") r = start(bus, address);
  if (r < 0) return lost(address, r);
  return Result<Bus>(std::move(out));
}

/// Value: what the handlers are given.
struct Listener {
  const std::function<bool(const Event&)>& told;
  bool done = false;
};

std::string next_text(sd_bus_message* message) {
  const char* text = nullptr;
  return sd_bus_message_read_basic(message, 's', static_cast<void*>(&text)) > 0 ? text : "";
}

/// What conditions do is told by a signal of their own.
bool read_history(sd_bus_message* message, Event& event) {
  auto histories = parse_history_document(next_text(message));
  if (!histories || histories->size() != 1 || histories->front().events.empty()) return false;
  event.kind = Event::Kind::happened;
  event.history = std::move(histories->front());
  const auto kind = event.history.events.back().kind;
  return kind != EventKind::raised && kind != EventKind::cleared;
}

/// A signal that is not of the form that version 1 promises is passed over.
bool read_event(sd_bus_message* message, Event& event) {
  const char* const name = sd_bus_message_get_member(message);
  const std::string_view member = name == nullptr ? "" : name;
  event.id = next_text(message);
  if (member == "SandboxAdded") event.kind = Event::Kind::added;
  if (member == "SandboxRemoved") event.kind = Event::Kind::removed;
  if (member == "SandboxAdded" || member == "SandboxRemoved") return true;
  if (member == "SandboxStateChanged") {
    event.kind = Event::Kind::state;
    event.before = next_text(message);
    event.after = next_text(message);
    return true;
  }
  if (member == "EventAdded") return read_history(message, event);
  if (member != "ConditionChanged") return false;
  event.kind = Event::Kind::condition;
  event.condition = next_text(message);
  event.severity = next_text(message);
  int active = 0;
  if (sd_bus_message_read_basic(message, 'b', &active) <= 0) return false;
  event.active = active != 0;
  event.text = next_text(message);
  return true;
}

int on_signal(sd_bus_message* message, void* data, sd_bus_error* /*error*/) {
  auto& listener = *static_cast<Listener*>(data);
  Event event;
  if (read_event(message, event) && !listener.told(event)) listener.done = true;
  return 0;
}

int on_owner(sd_bus_message* message, void* data, sd_bus_error* /*error*/) {
  auto& listener = *static_cast<Listener*>(data);
  (void)next_text(message);  // ignored: the match asks for one name only
  (void)next_text(message);  // ignored: who had it
  Event event;
  event.kind = Event::Kind::daemon;
  event.active = !next_text(message).empty();
  if (!listener.told(event)) listener.done = true;
  return 0;
}

}  // namespace

Status watch_bus(const std::string& address, const std::function<bool(const Event&)>& told) {
  const auto bus = open_bus(address);
  if (!bus) return forward(bus.error());
  Listener listener{told};
  const auto signals = fmt::format("type='signal',sender='{}',interface='{}',path='{}'",
                                   bus::kBusName, bus::kManagerInterface, bus::kRootPath);
  const auto owner =
      fmt::format("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{}'",
                  bus::kBusName);
  int r = sd_bus_add_match(bus->get(), nullptr, signals.c_str(), on_signal, &listener);
  if (r >= 0) r = sd_bus_add_match(bus->get(), nullptr, owner.c_str(), on_owner, &listener);
  // Whoever reads this knows from here on that nothing is missed.
  Event listening;
  listening.kind = Event::Kind::daemon;
  listening.active = true;
  if (r >= 0) listener.done = !told(listening);
  while (r >= 0 && !listener.done) {
    r = sd_bus_process(bus->get(), nullptr);
    if (r == 0) r = sd_bus_wait(bus->get(), UINT64_MAX);
    if (r == -EINTR) r = 0;
  }
  if (r < 0) return lost(address, r);
  return {};
}

}  // namespace kcg::cgctl
