// SPDX-License-Identifier: Apache-2.0
//
// Errors as cgctl tells them: a name for programs, a text for people, an exit status for scripts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tools/cgctl/options.hpp"

namespace kcg::cgctl {

/// Codes beside ManagerError's for what only a client can meet.
enum class ClientError : int { not_reachable = 100100, not_permitted, kernel, enforcing };

/// The daemon's error of this name on the bus -> our code; the text stays.
[[nodiscard]] Error error_from_bus(std::string_view name, const std::string& text);

/// "NoSuchSandbox", "NotReachable", ..., as in the JSON document.
[[nodiscard]] std::string_view failure_name(const Error& error);
[[nodiscard]] Exit failure_exit(const Error& error);
/// What goes to stderr. `note`: what was to be said besides, "" if nothing; with JSON it is part of
/// the one document.
[[nodiscard]] std::string failure_text(const Error& error, bool json, const std::string& note);
/// As failure_text(), when nothing failed.
[[nodiscard]] std::string note_text(bool json, const std::string& note);

}  // namespace kcg::cgctl
