// SPDX-License-Identifier: Apache-2.0
//
// Who a caller is (L9): asked of the bus without waiting for it. sd_bus_message_get_creds() and its
// kin would wait, as long as the bus likes.
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include <functional>
#include <list>
#include <string>

#include "base/result.hpp"

namespace kcg::bus {

/// Resource: questions that are open; they are dropped with it. Must not outlive the connection.
class Identity final {
 public:
  using Known = std::function<void(Result<uid_t>)>;

  explicit Identity(sd_bus* bus) : bus_(bus) {}
  ~Identity();
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  /// Effective user id of the caller as the bus recorded it when he connected. `known` is called
  /// later, from the loop, and must not throw.
  [[nodiscard]] Status ask(const std::string& caller, Known known);

 private:
  struct Question {
    Identity* owner = nullptr;
    sd_bus_slot* slot = nullptr;
    Known known;
  };
  static int on_answer(sd_bus_message* message, void* question, sd_bus_error* error);

  sd_bus* bus_;
  std::list<Question> open_;
};

}  // namespace kcg::bus
