// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/pump.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <ctime>
#include <exception>
#include <utility>

namespace kcg::bus {

Pump::Pump(sdbus::IConnection& connection, sd_bus* bus, Events events)
    : connection_(connection), bus_(bus), events_(std::move(events)) {}

Pump::~Pump() {
  sd_event_source_disable_unref(io_);
  sd_event_source_disable_unref(timer_);
}

Result<std::unique_ptr<Pump>> Pump::start(sd_event* event, sdbus::IConnection& connection,
                                          sd_bus* bus, Events events) {
  std::unique_ptr<Pump> pump(new Pump(connection, bus, std::move(events)));
  if (const int r = pump->attach(event); r < 0)
    return fail(-r, "cannot wait for the bus: {}", errno_text(-r));
  return pump;
}

int Pump::attach(sd_event* event) {
  const auto on_io = [](sd_event_source*, int, std::uint32_t, void* self) {
    static_cast<Pump*>(self)->process();
    return 0;
  };
  const auto on_time = [](sd_event_source*, std::uint64_t, void* self) {
    static_cast<Pump*>(self)->process();
    return 0;
  };
  const auto on_prepare = [](sd_event_source*, void* self) {
    static_cast<Pump*>(self)->prepare();
    return 0;
  };
  const int fd = poll_needs(connection_).fd;
  if (const int r = sd_event_add_io(event, &io_, fd, EPOLLIN, on_io, this); r < 0) return r;
  if (const int r = sd_event_add_time(event, &timer_, CLOCK_MONOTONIC, 0, 1, on_time, this); r < 0)
    return r;
  // Nothing is due before prepare() has asked.
  if (const int r = sd_event_source_set_enabled(timer_, SD_EVENT_OFF); r < 0) return r;
  return sd_event_source_set_prepare(io_, on_prepare);
}

void Pump::prepare() {
  if (!lost_) check_queue();
  if (lost_) return;
  try {
    // POLLIN and POLLOUT have the same values as their EPOLL counterparts.
    const PollNeeds needs = poll_needs(connection_);
    (void)sd_event_source_set_io_events(io_, static_cast<std::uint32_t>(needs.events));
    if (needs.deadline)
      (void)sd_event_source_set_time(timer_, static_cast<std::uint64_t>(needs.deadline->count()));
    (void)sd_event_source_set_enabled(timer_, needs.deadline ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
    // ignored: these fail only on arguments that are known to be good
  } catch (const std::exception& error) {
    lose(error.what());
  }
}

void Pump::process() {
  if (lost_) return;
  try {
    busy_ = true;
    process_one(connection_);
    busy_ = false;
    events_.handled();
  } catch (const std::exception& error) {
    busy_ = false;
    lose(error.what());
  }
}

/// Signals are not waited for, and a bus that is stopped must not fill our memory with them.
void Pump::check_queue() {
  std::uint64_t queued = 0;
  if (sd_bus_get_n_queued_write(bus_, &queued) < 0 || queued <= kMostQueued) return;
  lose(fmt::format("it does not read: {} messages wait for it", queued));
}

void Pump::lose(const std::string& reason) {
  lost_ = true;
  (void)sd_event_source_set_enabled(io_, SD_EVENT_OFF);     // ignored: as above
  (void)sd_event_source_set_enabled(timer_, SD_EVENT_OFF);  // ignored: as above
  events_.lost(reason);
}

}  // namespace kcg::bus
