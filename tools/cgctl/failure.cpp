// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/failure.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "daemon/bus/names.hpp"
#include "daemon/manager.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// Value: one row of the table of errors.
struct Kind {
  int code;
  std::string_view name;
  Exit exit;
};

constexpr Kind kKinds[] = {
    {static_cast<int>(ManagerError::no_such_sandbox), "NoSuchSandbox", Exit::no_such_sandbox},
    {static_cast<int>(ManagerError::ambiguous_id), "AmbiguousId", Exit::usage},
    {static_cast<int>(ManagerError::invalid_argument), "InvalidArgument", Exit::usage},
    {static_cast<int>(ManagerError::limit_reached), "LimitReached", Exit::failed},
    {static_cast<int>(ManagerError::observe_only), "ObserveOnly", Exit::failed},
    {static_cast<int>(ManagerError::config), "Config", Exit::failed},
    {static_cast<int>(ClientError::not_reachable), "NotReachable", Exit::no_daemon},
    {static_cast<int>(ClientError::not_permitted), "NotPermitted", Exit::failed},
    {static_cast<int>(ClientError::kernel), "Kernel", Exit::failed},
    {static_cast<int>(ClientError::enforcing), "Enforcing", Exit::failed},
};

constexpr std::string_view kStandardErrors = "org.freedesktop.DBus.Error.";

const Kind* kind_of(int code) {
  for (const auto& kind : kKinds)
    if (kind.code == code) return &kind;
  return nullptr;
}

bool means_unreachable(std::string_view name) {
  for (const auto* one : {"ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected", "Timeout",
                          "NoServer", "FileNotFound"})
    if (name == one) return true;
  return false;
}

}  // namespace

Error error_from_bus(std::string_view name, const std::string& text) {
  if (name.starts_with(bus::kErrorPrefix)) {
    name.remove_prefix(std::string_view(bus::kErrorPrefix).size());
    for (const auto& kind : kKinds)
      if (kind.name == name) return {kind.code, text};
  }
  if (name.starts_with(kStandardErrors)) {
    name.remove_prefix(kStandardErrors.size());
    if (name == "AccessDenied")
      return {static_cast<int>(ClientError::not_permitted), text + "; this is for root only"};
    // An object that is gone is a sandbox that ended while we looked.
    if (name == "UnknownObject") return {static_cast<int>(ManagerError::no_such_sandbox), text};
    if (means_unreachable(name))
      return {static_cast<int>(ClientError::not_reachable),
              fmt::format("the daemon cannot be reached: {}", text)};
  }
  return {0, text};
}

std::string_view failure_name(const Error& error) {
  if (const auto* const kind = kind_of(error.code)) return kind->name;
  return error.code == 0 ? "Failed" : "Kernel";
}

Exit failure_exit(const Error& error) {
  const auto* const kind = kind_of(error.code);
  return kind == nullptr ? Exit::failed : kind->exit;
}

std::string failure_text(const Error& error, bool json, const std::string& note) {
  if (!json) {
    const auto before = note.empty() ? "" : note_text(false, note);
    // The candidates of an ambiguous name stand on lines of their own.
    const bool list = error.code == static_cast<int>(ManagerError::ambiguous_id);
    const auto text = list ? printable_lines(error.text) : printable(error.text);
    return before + "cgctl: " + text + "\n";
  }
  nlohmann::ordered_json top;
  top["version"] = 1;
  top["error"]["name"] = failure_name(error);
  top["error"]["message"] = valid_utf8(error.text);
  if (!note.empty()) top["note"] = valid_utf8(note);
  return printable_json(top.dump() + "\n");
}

std::string note_text(bool json, const std::string& note) {
  if (note.empty()) return "";
  if (!json) return "cgctl: " + printable(note) + "\n";
  nlohmann::ordered_json top;
  top["version"] = 1;
  top["note"] = valid_utf8(note);
  return printable_json(top.dump() + "\n");
}

}  // namespace kcg::cgctl
