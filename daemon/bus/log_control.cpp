// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/log_control.hpp"

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "daemon/bus/errors.hpp"

namespace kcg::bus {

namespace {

constexpr const char* kPath = "/org/freedesktop/LogControl1";
constexpr const char* kInterface = "org.freedesktop.LogControl1";
constexpr const char* kIdentifier = "kata-cgroupd";

constexpr std::array<std::pair<std::string_view, LogLevel>, 8> kNames = {{
    {"err", LogLevel::error},
    {"warning", LogLevel::warning},
    {"notice", LogLevel::notice},
    {"info", LogLevel::info},
    {"debug", LogLevel::debug},
    {"crit", LogLevel::error},
    {"alert", LogLevel::error},
    {"emerg", LogLevel::error},
}};

[[noreturn]] void refuse_value(std::string text) {
  throw bus_error({static_cast<int>(ManagerError::invalid_argument), std::move(text)});
}

/// nullopt: no such level. What is more urgent than an error is one.
std::optional<LogLevel> level_of(std::string_view name) {
  for (const auto& [known, level] : kNames)
    if (known == name) return level;
  return std::nullopt;
}

std::string_view name_of(LogLevel level) {
  for (const auto& [name, known] : kNames)
    if (known == level) return name;
  return "";
}

}  // namespace

const sd_bus_vtable LogControl::kProperties[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get, refuse, 0, 0),
    SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", get, refuse, 0, 0),
    SD_BUS_PROPERTY("SyslogIdentifier", "s", get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_VTABLE_END,
};

LogControl::LogControl(sd_bus* bus, Context& context) : context_(context) {
  sd_bus_slot* slot = nullptr;
  const int r = sd_bus_add_object_vtable(bus, &slot, kPath, kInterface, kProperties, this);
  if (r < 0) throw make_error("org.freedesktop.DBus.Error.Failed", errno_text(-r));
  slot_.reset(slot);
}

bool LogControl::concerns(sd_bus_message* message) {
  return sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Set") > 0 &&
         std::string_view(sd_bus_message_get_path(message)) == kPath;
}

void LogControl::set(const Call& call) {
  const auto caller = call.caller();
  const auto ticket = or_throw(context_.callers->enter(caller));
  or_throw(context_.identity->ask(
      caller, [this, call = Call(call), ticket](const Result<uid_t>& uid) mutable {
        try {
          try {
            require_root(or_throw(uid), "Set");
            set_as_root(call);
            call.createReply().send();
          } catch (const sdbus::Error& error) {
            call.refuse(error);
          }
        } catch (const sdbus::Error&) {
          // The connection is lost, and with it the caller: the pump finds out and says so.
        }
      }));
}

void LogControl::set_as_root(Call& call) {
  std::string interface, property;
  sdbus::Variant value;
  call >> interface >> property >> value;
  if (property != "LogLevel")
    refuse_value(fmt::format("{} cannot be changed: what is logged goes where stderr goes",
                             escaped(property, 64)));
  const auto name =
      value.containsValueOfType<std::string>() ? value.get<std::string>() : std::string();
  const auto level = level_of(name);
  if (!level)
    refuse_value(fmt::format("LogLevel: '{}' is not one of err, warning, notice, info, debug",
                             escaped(name, 64)));
  context_.manager.set_log_level(*level);
}

int LogControl::get(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/,
                    const char* property, sd_bus_message* reply, void* self,
                    sd_bus_error* /*error*/) {
  const auto& manager = static_cast<LogControl*>(self)->context_.manager;
  const std::string_view wanted(property);
  const auto target = manager.daemon_info().log_target;
  const std::string text(wanted == "LogLevel"    ? name_of(manager.log_level())
                         : wanted == "LogTarget" ? std::string_view(target)
                                                 : std::string_view(kIdentifier));
  return sd_bus_message_append(reply, "s", text.c_str());
}

/// Never reached: set() answers first.
int LogControl::refuse(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/,
                       const char* /*property*/, sd_bus_message* /*value*/, void* /*self*/,
                       sd_bus_error* /*error*/) {
  return -EACCES;
}

}  // namespace kcg::bus
