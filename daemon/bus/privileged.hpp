// SPDX-License-Identifier: Apache-2.0
//
// Members that change something (L9): root's, also on a bus that was set up without our policy.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "daemon/bus/context.hpp"
#include "daemon/bus/errors.hpp"

namespace kcg::bus {

/// Answers with what `act` throws.
template <class Kept, class Act>
void answer_for(Kept& result, Act&& act) {
  try {
    try {
      std::forward<Act>(act)();
    } catch (const sdbus::Error& error) {
      result.returnError(error);
    }
  } catch (const sdbus::Error&) {
    // The connection is lost, and with it the caller: the pump finds out and says so.
  }
}

/// Value: who may go on.
struct Admitted {
  Callers::Ticket ticket;
  uid_t uid = 0;
};

/// Calls `act(result, admitted)` as soon as the bus has said that root is asking, and answers
/// NotPermitted if somebody else is. Throws sdbus::Error when that cannot be found out.
template <class... Results, class Act>
void for_root(Context& context, const Call& call, const std::string& member,
              sdbus::Result<Results...>&& result, Act act) {
  const auto caller = call.caller();
  const auto ticket = or_throw(context.callers->enter(caller));
  // std::function wants to be copied.
  const auto kept = std::make_shared<sdbus::Result<Results...>>(std::move(result));
  or_throw(context.identity->ask(caller, [=](const Result<uid_t>& uid) {
    answer_for(*kept, [&] {
      require_root(or_throw(uid), member);
      act(*kept, Admitted{ticket, *uid});
    });
  }));
}

}  // namespace kcg::bus
