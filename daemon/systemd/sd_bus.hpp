// SPDX-License-Identifier: Apache-2.0
//
// Owners of what sd-bus counts references of (L9).
#pragma once

#include <systemd/sd-bus.h>

#include <memory>

namespace kcg::systemd {

/// Deleter made of one of the library's functions.
template <auto Unref>
struct Unreferenced {
  template <class T>
  void operator()(T* object) const {
    (void)Unref(object);
  }
};

/// Closed without flushing: that would wait for a bus that does not read.
using BusPtr = std::unique_ptr<sd_bus, Unreferenced<sd_bus_close_unref>>;
using MessagePtr = std::unique_ptr<sd_bus_message, Unreferenced<sd_bus_message_unref>>;
/// Ends the match, or drops the answer.
using SlotPtr = std::unique_ptr<sd_bus_slot, Unreferenced<sd_bus_slot_unref>>;

}  // namespace kcg::systemd
