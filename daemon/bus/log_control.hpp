// SPDX-License-Identifier: Apache-2.0
//
// How much the daemon says, asked for and changed while it runs (L9): org.freedesktop.LogControl1,
// which `systemctl service-log-level` speaks; see org.freedesktop.LogControl1(5).
#pragma once

#include <systemd/sd-bus.h>

#include <memory>
#include <string>
#include <string_view>

#include "daemon/bus/context.hpp"
#include "daemon/log.hpp"

namespace kcg::bus {

/// Resource: on the bus as long as it lives. The context, and its identity, outlive it.
class LogControl final {
 public:
  /// Throws sdbus::Error.
  LogControl(sd_bus* bus, Context& context);

  /// Whether the message sets a property of ours. libsystemd would find out who is asking by
  /// waiting for the bus.
  [[nodiscard]] static bool concerns(sd_bus_message* message);
  /// Sets it if root is asking, and answers. Throws sdbus::Error when that cannot be found out.
  void set(const Call& call);

 private:
  void set_as_root(Call& call);
  static int get(sd_bus* bus, const char* path, const char* interface, const char* property,
                 sd_bus_message* reply, void* self, sd_bus_error* error);
  static int refuse(sd_bus* bus, const char* path, const char* interface, const char* property,
                    sd_bus_message* value, void* self, sd_bus_error* error);

  static const sd_bus_vtable kProperties[];
  struct Unref {
    void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
  };
  Context& context_;
  std::unique_ptr<sd_bus_slot, Unref> slot_;
};

}  // namespace kcg::bus
