// SPDX-License-Identifier: Apache-2.0
//
// Calls that concern the whole node (L9), answered from the desk: little by little, and what the
// answer says of all sandboxes together is put together at once, so that it and the signals before
// and after it fit.
#pragma once

#include <string>
#include <vector>

#include "daemon/bus/context.hpp"
#include "daemon/bus/sandbox_object.hpp"

namespace kcg::bus {

/// All of them throw sdbus::Error when the call cannot wait (LimitReached). `context` and
/// `sandboxes` must live as long as the context's desk.
void list_sandboxes(Context& context, const SandboxObjects& sandboxes, const Call& call);
void list_ignored(Context& context, const Call& call);
void get_stats(Context& context, const SandboxObjects& sandboxes, const Call& call);
void list_registrations(Context& context, const Call& call);
void get_managed_objects(Context& context, const SandboxObjects& sandboxes, const Call& call);

/// Manager::plan_json, Manager::explain_json, Manager::events_json or Manager::recommend_json.
using ReadDocument = Result<std::string> (Manager::*)(const std::string& id);
/// What the manager says at once, whatever `id` is to it.
void send_document(Context& context, const Call& call, const std::string& id, ReadDocument read);
/// The document of one sandbox, or if `id` is "" of `all`.
void read_document(Context& context, std::vector<std::string> all, const Call& call,
                   const std::string& id, ReadDocument read);

[[nodiscard]] std::vector<std::string> ids_of(const SandboxObjects& sandboxes);

}  // namespace kcg::bus
