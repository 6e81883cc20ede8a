// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/session.hpp"

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/utf8.hpp"
#include "daemon/bus/names.hpp"
#include "daemon/bus/node_calls.hpp"
#include "history/condition_news.hpp"
#include "show/history_documents.hpp"

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

}  // namespace

Session::Session(Manager& manager, std::unique_ptr<sdbus::IConnection> connection, Events events)
    : connection_(std::move(connection)), events_(std::move(events)), context_(manager) {}

/// The library would wait until a bus that does not read has taken what is queued for it.
Session::~Session() {
  pump_.reset();
  if (bus_ == nullptr) return;
  sd_bus_slot_unref(calls_);
  sd_bus_slot_unref(callers_);
  sd_bus_slot_unref(naming_);
  context_.identity.reset();
  log_control_.reset();
  sd_bus_close(bus_);
}

Result<std::unique_ptr<Session>> Session::open(Loop& loop, Manager& manager,
                                               std::unique_ptr<sdbus::IConnection> connection,
                                               Events events) {
  std::unique_ptr<Session> session(new Session(manager, std::move(connection), std::move(events)));
  auto* const self = session.get();
  if (const auto done = guarded("bus", [self] { self->export_all(); }); !done)
    return forward(done.error());
  auto pump = Pump::start(loop.get(), *session->connection_, session->bus_,
                          {[self] { self->handled(); },
                           [self](const std::string& reason) { self->events_.lost(reason); }});
  if (!pump) return forward(pump.error());
  session->pump_ = *std::move(pump);
  return session;
}

void Session::export_all() {
  manager_object_ = std::make_unique<ManagerObject>(*connection_, context_, sandboxes_);
  bus_ = manager_object_->bus();
  context_.identity.emplace(bus_);
  log_control_.emplace(bus_, context_);
  watch_calls();
  watch_callers();
  for (const auto& view : context_.manager.list(false)) {
    if (!view.ignored.empty()) continue;
    sandboxes_[view.id] = std::make_unique<SandboxObject>(*connection_, context_, view);
    manager_object_->count_conditions(0, view.conditions.size());
  }
}

/// libsystemd answers GetManagedObjects by itself, all objects at once, and finds out who sets a
/// property by waiting for the bus.
void Session::watch_calls() {
  if (const int r = sd_bus_add_filter(bus_, &calls_, on_message, this); r < 0)
    throw make_error("org.freedesktop.DBus.Error.Failed", errno_text(-r));
}

/// What a caller asked for who has left is not worked on: else who connects, asks and leaves, again
/// and again, would keep the others waiting.
void Session::watch_callers() {
  const auto installed = [](sd_bus_message*, void*, sd_bus_error*) { return 0; };
  const int r = sd_bus_add_match_async(
      bus_, &callers_,
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
      on_owner_changed, installed, this);
  if (r < 0) throw make_error("org.freedesktop.DBus.Error.Failed", errno_text(-r));
}

int Session::on_owner_changed(sd_bus_message* message, void* self, sd_bus_error*) {
  const char* name = nullptr;
  if (sd_bus_message_read(message, "s", &name) > 0)
    static_cast<Session*>(self)->context_.desk->gone(name);
  return 0;
}

/// What libsystemd must not see.
int Session::on_message(sd_bus_message* message, void* self, sd_bus_error* error) {
  const bool objects = sd_bus_message_is_method_call(message, "org.freedesktop.DBus.ObjectManager",
                                                     "GetManagedObjects") > 0 &&
                       std::string_view(sd_bus_message_get_path(message)) == kRootPath;
  if (!objects && !LogControl::concerns(message)) return 0;
  auto& session = *static_cast<Session*>(self);
  try {
    const Call call(message, session.manager_object_->scratch());
    if (objects)
      get_managed_objects(session.context_, session.sandboxes_, call);
    else
      session.log_control_->set(call);
    return 1;
  } catch (const sdbus::Error& refused) {
    return sd_bus_error_set(error, std::string(refused.getName()).c_str(),
                            refused.getMessage().c_str());
  }
}

Status Session::claim_name(std::function<void(Status)> claimed) {
  claimed_ = std::move(claimed);
  const int r = sd_bus_request_name_async(bus_, &naming_, kBusName, 0, on_named, this);
  if (r < 0) return fail(-r, "bus name {}: {}", kBusName, errno_text(-r));
  return {};
}

int Session::on_named(sd_bus_message* message, void* self, sd_bus_error*) {
  constexpr std::uint32_t kOwner = 1;
  constexpr std::uint32_t kAlreadyOwner = 4;
  Status status;
  std::uint32_t answer = 0;
  if (const auto* const error = sd_bus_message_get_error(message))
    status = fail(sd_bus_message_get_errno(message), "bus name {}: {}: {}", kBusName, error->name,
                  error->message == nullptr ? "" : error->message);
  else if (const int r = sd_bus_message_read(message, "u", &answer); r < 0)
    status = fail(-r, "bus name {}: {}", kBusName, errno_text(-r));
  else if (answer != kOwner && answer != kAlreadyOwner)
    status = fail(EEXIST, "bus name {}: somebody else owns it", kBusName);
  const auto claimed = static_cast<Session*>(self)->claimed_;
  claimed(std::move(status));
  return 1;
}

/// Objects come and go between messages: the one in hand may be a call of an object's own method,
/// and the library takes no second object at the path of one that is still there.
void Session::now_or_soon(std::string what, std::function<void()> act) {
  if (pump_ != nullptr && pump_->busy()) return later_.push_back({std::move(what), std::move(act)});
  run(what, act);
}

void Session::run(const std::string& what, const std::function<void()>& act) {
  if (const auto done = guarded(what, act); !done) events_.problem(done.error().text);
}

void Session::handled() {
  context_.fresh.forget();
  while (!later_.empty())
    for (const auto& one : std::exchange(later_, {})) run(one.what, one.act);
}

void Session::added(const SandboxView& view) {
  now_or_soon("sandbox '" + view.id + "': announcing it", [this, view] { add(view); });
}

void Session::removed(const std::string& id) {
  now_or_soon("sandbox '" + id + "': announcing its end", [this, id] { remove(id); });
}

void Session::changed(const SandboxView& before, const SandboxView& after) {
  now_or_soon("sandbox '" + after.id + "': announcing a change",
              [this, before, after] { change(before, after); });
}

void Session::happened(const SandboxHistory& one) {
  now_or_soon("sandbox '" + one.id + "': announcing an event", [this, one] {
    manager_object_->emitEventAdded(valid_utf8(one.id), history_document({one}, true));
  });
}

void Session::problems_changed() {
  now_or_soon("announcing the daemon's problems", [this] { manager_object_->tell({"Problems"}); });
}

void Session::add(const SandboxView& view) {
  auto& object = sandboxes_[view.id];
  if (object) return object->update(view);
  object = std::make_unique<SandboxObject>(*connection_, context_, view);
  object->announce();
  manager_object_->emitSandboxAdded(view.id, sdbus::ObjectPath(sandbox_path(view.id)));
  manager_object_->count_conditions(0, view.conditions.size());
  manager_object_->tell({"SandboxCount"});
  tell_conditions({}, view);
}

void Session::remove(const std::string& id) {
  const auto node = sandboxes_.extract(id);
  if (node.empty()) return;
  auto& object = *node.mapped();
  object.retract();
  manager_object_->emitSandboxRemoved(id, sdbus::ObjectPath(sandbox_path(id)));
  manager_object_->count_conditions(object.view().conditions.size(), 0);
  manager_object_->tell({"SandboxCount"});
}

void Session::change(const SandboxView& before, const SandboxView& after) {
  const auto it = sandboxes_.find(after.id);
  if (it == sandboxes_.end()) return add(after);
  it->second->update(after);
  if (before.state != after.state)
    manager_object_->emitSandboxStateChanged(after.id, std::string(name(before.state)),
                                             std::string(name(after.state)));
  tell_conditions(before, after);
  manager_object_->count_conditions(before.conditions.size(), after.conditions.size());
}

void Session::tell_conditions(const SandboxView& before, const SandboxView& after) {
  for (const auto& news : condition_news(conditions_of(before), conditions_of(after))) {
    manager_object_->emitConditionChanged(
        after.id, std::string(info(news.condition.condition).name),
        std::string(name(news.condition.severity)), news.what != ConditionNews::What::cleared,
        valid_utf8(news.condition.text));
  }
}

}  // namespace kcg::bus
