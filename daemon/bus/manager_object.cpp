// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/manager_object.hpp"

#include <utility>

#include "base/utf8.hpp"
#include "daemon/bus/convert.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/names.hpp"
#include "daemon/bus/node_calls.hpp"
#include "daemon/bus/privileged.hpp"
#include "daemon/bus/registration.hpp"

namespace kcg::bus {

namespace {

/// A full id from a caller; throws InvalidArgument.
std::string full_id(const std::string& text) {
  const auto id = SandboxId::parse(text);
  if (!id) throw bus_error({static_cast<int>(ManagerError::invalid_argument), id.error().text});
  return id->str();
}

}  // namespace

ManagerObject::ManagerObject(sdbus::IConnection& connection, Context& context,
                             const SandboxObjects& sandboxes)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(kRootPath)),
      context_(context),
      sandboxes_(sandboxes) {
  registerAdaptor();
}

ManagerObject::~ManagerObject() { unregisterAdaptor(); }

void ManagerObject::count_conditions(std::size_t before, std::size_t after) {
  conditions_ = conditions_ - before + after;
  if (before != after) tell({"ConditionCount"});
}

void ManagerObject::tell(const std::vector<std::string>& names) {
  properties_changed(getObject(), kManagerInterface, names);
}

void ManagerObject::ListSandboxes(sdbus::Result<Listed>&&) {
  list_sandboxes(context_, sandboxes_, call_in_hand(getObject()));
}

void ManagerObject::ListIgnored(sdbus::Result<Described>&&) {
  list_ignored(context_, call_in_hand(getObject()));
}

void ManagerObject::ListRegistrations(sdbus::Result<Described>&&) {
  list_registrations(context_, call_in_hand(getObject()));
}

void ManagerObject::GetStats(sdbus::Result<Described>&&) {
  get_stats(context_, sandboxes_, call_in_hand(getObject()));
}

sdbus::ObjectPath ManagerObject::GetSandbox(const std::string& id) {
  return sdbus::ObjectPath(sandbox_path(or_throw(context_.manager.resolve(id))));
}

void ManagerObject::RegisterSandbox(sdbus::Result<sdbus::ObjectPath>&& result, std::string id,
                                    Properties properties) {
  for_root(
      context_, call_in_hand(getObject()), "RegisterSandbox", std::move(result),
      [this, id = std::move(id), properties = std::move(properties)](auto& kept, auto admitted) {
        const auto full = full_id(id);
        auto registration = or_throw(registration_from(properties));
        registration.since = SystemClock().wall_seconds();
        registration.uid = admitted.uid;
        or_throw(context_.manager.register_sandbox(full, registration));
        kept.returnResults(sdbus::ObjectPath(sandbox_path(full)));
      });
}

void ManagerObject::UnregisterSandbox(sdbus::Result<>&& result, std::string id) {
  for_root(context_, call_in_hand(getObject()), "UnregisterSandbox", std::move(result),
           [this, id = std::move(id)](auto& kept, auto) {
             or_throw(context_.manager.unregister_sandbox(full_id(id)));
             kept.returnResults();
           });
}

void ManagerObject::Reconcile(sdbus::Result<std::uint32_t>&& result, std::string id, bool adopt) {
  for_root(context_, call_in_hand(getObject()), "Reconcile", std::move(result),
           [this, id = std::move(id), adopt](auto& kept, auto admitted) {
             if (adopt && id.empty())
               throw bus_error({static_cast<int>(ManagerError::invalid_argument),
                                "Reconcile: \"\" is all sandboxes, and each one that is to be "
                                "adopted must be named"});
             context_.manager.reconcile(
                 id, adopt, context_.replies->later(std::move(kept), std::move(admitted.ticket)));
           });
}

void ManagerObject::Plan(sdbus::Result<std::string>&&, std::string id) {
  read_document(context_, ids_of(sandboxes_), call_in_hand(getObject()), id, &Manager::plan_json);
}

void ManagerObject::Explain(sdbus::Result<std::string>&&, std::string id) {
  read_document(context_, ids_of(sandboxes_), call_in_hand(getObject()), id,
                &Manager::explain_json);
}

void ManagerObject::Events(sdbus::Result<std::string>&&, std::string id) {
  read_document(context_, context_.manager.remembered(), call_in_hand(getObject()), id,
                &Manager::events_json);
}

void ManagerObject::Recommend(sdbus::Result<std::string>&&, std::string handler) {
  send_document(context_, call_in_hand(getObject()), handler, &Manager::recommend_json);
}

void ManagerObject::Reload(sdbus::Result<>&& result) {
  for_root(context_, call_in_hand(getObject()), "Reload", std::move(result),
           [this](auto& kept, auto) {
             or_throw(context_.manager.reload());
             tell({"Mode", "Features"});
             kept.returnResults();
           });
}

std::string ManagerObject::Version() { return context_.manager.daemon_info().version; }

std::vector<std::string> ManagerObject::Features() {
  auto features = context_.manager.daemon_info().features;
  for (const auto& key : registration_keys()) features.push_back("register:" + key);
  return features;
}

std::string ManagerObject::Mode() {
  return context_.manager.daemon_info().mode == kcg::Mode::observe ? "observe" : "enforce";
}

std::string ManagerObject::Hierarchy() {
  return std::string(name(context_.manager.daemon_info().hierarchy));
}

std::uint32_t ManagerObject::SandboxCount() {
  return static_cast<std::uint32_t>(sandboxes_.size());
}

std::uint32_t ManagerObject::ConditionCount() { return static_cast<std::uint32_t>(conditions_); }

std::vector<std::string> ManagerObject::Problems() {
  auto problems = context_.manager.problems();
  for (auto& problem : problems) problem = valid_utf8(problem);
  return problems;
}

std::map<std::string, std::string> ManagerObject::Parts() { return context_.manager.parts(); }

std::map<std::string, std::uint64_t> ManagerObject::PlacementTimes() {
  const auto facts = context_.manager.placement_times();
  return {{"Count", facts.count},
          {"P50Usec", static_cast<std::uint64_t>(facts.half.count())},
          {"P99Usec", static_cast<std::uint64_t>(facts.ninety_nine.count())},
          {"SumUsec", static_cast<std::uint64_t>(facts.sum.count())}};
}

std::map<std::string, std::uint64_t> ManagerObject::ConditionsRaised() {
  return context_.manager.conditions_raised();
}

std::map<std::uint64_t, std::uint64_t> ManagerObject::PlacementBuckets() {
  std::map<std::uint64_t, std::uint64_t> out;
  for (const auto& [bound, count] : context_.manager.placement_times().within)
    out[static_cast<std::uint64_t>(bound.count())] = count;
  return out;
}

}  // namespace kcg::bus
