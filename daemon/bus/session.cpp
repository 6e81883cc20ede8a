// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/session.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "daemon/bus/names.hpp"

namespace kcg::bus {

namespace {

/// The library's exceptions end here.
template <class Act>
Status guarded(const std::string& what, Act&& act) {
  try {
    std::forward<Act>(act)();
    return {};
  } catch (const sdbus::Error& error) {
    return fail(0, "{}: {}: {}", what, std::string(error.getName()), error.getMessage());
  }
}

const ConditionView* find(const SandboxView& view, ConditionName condition) {
  for (const auto& one : view.conditions)
    if (one.condition.condition == condition) return &one;
  return nullptr;
}

}  // namespace

Session::Session(Manager& manager, std::unique_ptr<sdbus::IConnection> connection)
    : connection_(std::move(connection)), context_{manager, {}, std::make_shared<Replies>()} {}

Result<std::unique_ptr<Session>> Session::open(Loop& loop, Manager& manager,
                                               const std::string& address, Lost lost) {
  std::unique_ptr<Session> session;
  const auto done = guarded("bus '" + address + "'", [&] {
    session.reset(new Session(manager, connect(address)));
    session->export_all();
  });
  if (!done) return forward(done.error());
  auto* const self = session.get();
  auto pump = Pump::start(loop.get(), *session->connection_,
                          {[self] { self->handled(); }, std::move(lost)});
  if (!pump) return forward(pump.error());
  session->pump_ = *std::move(pump);
  return session;
}

void Session::export_all() {
  manager_object_ = std::make_unique<ManagerObject>(*connection_, context_, sandboxes_);
  bulk_calls_ = before_calls(*connection_, "org.freedesktop.DBus.ObjectManager",
                             "GetManagedObjects", [this] { context_.fresh.suspend(); });
  for (const auto& view : context_.manager.list(false)) {
    if (!view.ignored.empty()) continue;
    sandboxes_[view.id] = std::make_unique<SandboxObject>(*connection_, context_, view);
    manager_object_->count_conditions(0, view.conditions.size());
  }
}

Status Session::claim_name() {
  return guarded(std::string("bus name ") + kBusName,
                 [this] { request_name(*connection_, kBusName); });
}

void Session::handled() {
  context_.fresh.forget();
  retired_.clear();
}

Status Session::added(const SandboxView& view) {
  return guarded("sandbox '" + view.id + "': announcing it", [&] {
    auto& object = sandboxes_[view.id];
    if (object) return object->update(view);
    object = std::make_unique<SandboxObject>(*connection_, context_, view);
    object->announce();
    manager_object_->emitSandboxAdded(view.id, sdbus::ObjectPath(sandbox_path(view.id)));
    manager_object_->count_conditions(0, view.conditions.size());
    manager_object_->tell({"SandboxCount"});
    tell_conditions({}, view);
  });
}

Status Session::removed(const std::string& id) {
  auto node = sandboxes_.extract(id);
  if (node.empty()) return {};
  // Not destroyed here: the call in hand may be one of its own methods.
  retired_.push_back(std::move(node.mapped()));
  auto& object = *retired_.back();
  return guarded("sandbox '" + id + "': announcing its end", [&] {
    object.retract();
    manager_object_->emitSandboxRemoved(id, sdbus::ObjectPath(sandbox_path(id)));
    manager_object_->count_conditions(object.view().conditions.size(), 0);
    manager_object_->tell({"SandboxCount"});
  });
}

Status Session::changed(const SandboxView& before, const SandboxView& after) {
  const auto it = sandboxes_.find(after.id);
  if (it == sandboxes_.end()) return added(after);
  return guarded("sandbox '" + after.id + "': announcing a change", [&] {
    it->second->update(after);
    if (before.state != after.state)
      manager_object_->emitSandboxStateChanged(after.id, std::string(name(before.state)),
                                               std::string(name(after.state)));
    tell_conditions(before, after);
    manager_object_->count_conditions(before.conditions.size(), after.conditions.size());
  });
}

void Session::tell_conditions(const SandboxView& before, const SandboxView& after) {
  const auto tell = [&](const ConditionView& one, bool active) {
    const auto& about = info(one.condition.condition);
    manager_object_->emitConditionChanged(after.id, std::string(about.name),
                                          std::string(name(about.severity)), active,
                                          valid_utf8(one.condition.text));
  };
  for (const auto& one : before.conditions)
    if (find(after, one.condition.condition) == nullptr) tell(one, false);
  for (const auto& one : after.conditions)
    if (find(before, one.condition.condition) == nullptr) tell(one, true);
}

}  // namespace kcg::bus
