// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/manager_object.hpp"

#include <utility>

#include "base/utf8.hpp"
#include "daemon/bus/convert.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/names.hpp"
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

void ManagerObject::demand_root(const char* member) {
  require_root(caller_uid(getObject()), member);
}

std::vector<sdbus::Struct<std::string, sdbus::ObjectPath, Properties>>
ManagerObject::ListSandboxes() {
  std::vector<sdbus::Struct<std::string, sdbus::ObjectPath, Properties>> out;
  for (const auto& [id, object] : sandboxes_)
    out.emplace_back(id, sdbus::ObjectPath(sandbox_path(id)), overview(object->view()));
  return out;
}

std::vector<sdbus::Struct<std::string, Properties>> ManagerObject::ListIgnored() {
  std::vector<sdbus::Struct<std::string, Properties>> out;
  for (const auto& view : context_.manager.list(true))
    if (!view.ignored.empty()) out.emplace_back(valid_utf8(view.id), ignored_overview(view));
  return out;
}

sdbus::ObjectPath ManagerObject::GetSandbox(const std::string& id) {
  return sdbus::ObjectPath(sandbox_path(or_throw(context_.manager.resolve(id))));
}

sdbus::ObjectPath ManagerObject::RegisterSandbox(const std::string& id,
                                                 const Properties& properties) {
  demand_root("RegisterSandbox");
  const auto full = full_id(id);
  or_throw(context_.manager.register_sandbox(full, or_throw(registration_from(properties))));
  return sdbus::ObjectPath(sandbox_path(full));
}

void ManagerObject::UnregisterSandbox(const std::string& id) {
  demand_root("UnregisterSandbox");
  or_throw(context_.manager.unregister_sandbox(full_id(id)));
}

void ManagerObject::Reconcile(sdbus::Result<std::uint32_t>&& result, std::string id, bool adopt) {
  demand_root("Reconcile");
  context_.manager.reconcile(id, adopt, context_.replies->later(std::move(result)));
}

std::string ManagerObject::Plan(const std::string& id) {
  return or_throw(context_.manager.plan_json(id));
}

std::string ManagerObject::Explain(const std::string& id) {
  return or_throw(context_.manager.explain_json(id));
}

void ManagerObject::Reload() {
  demand_root("Reload");
  or_throw(context_.manager.reload());
  tell({"Mode", "Features"});
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

}  // namespace kcg::bus
