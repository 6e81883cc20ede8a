// SPDX-License-Identifier: Apache-2.0
//
// The daemon's voice (L9): journal fields when stderr is the journal, else "<N>text" on stderr.
// Only daemon/ logs; lib/ returns errors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "model/condition.hpp"

namespace kcg {

/// syslog's numbers.
enum class LogLevel : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };

/// Prints a line on standard error, with the priority in front that a service manager reads; a
/// person at a terminal is spared it.
void print_line(LogLevel level, std::string_view text);

/// Where it speaks: "journal" or "console".
[[nodiscard]] std::string_view log_target();

/// Resource: see the head of the file.
class Log final {
 public:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  Log(const Clock& clock, LogLevel most) : clock_(clock), most_(most) {}

  void error(std::string_view text) const { say(LogLevel::error, text, {}); }
  void warning(std::string_view text) const { say(LogLevel::warning, text, {}); }
  void notice(std::string_view text) const { say(LogLevel::notice, text, {}); }
  void info(std::string_view text) const { say(LogLevel::info, text, {}); }
  void debug(std::string_view text) const { say(LogLevel::debug, text, {}); }
  void say(LogLevel level, std::string_view text, const Fields& fields) const;

  /// Who knows the pod of a sandbox: its POD_NAMESPACE and POD_NAME, if any.
  void name_pods(std::function<Fields(const std::string& id)> pod) { pod_ = std::move(pod); }
  /// SANDBOX_ID, and the pod if it is known.
  [[nodiscard]] Fields fields_of(const std::string& sandbox) const;

  /// A condition was raised or cleared.
  void condition(const std::string& sandbox, const Condition& condition, bool active) const;
  /// It holds already, and something new has happened. Limited like the following, unless each time
  /// counts.
  void condition_again(const std::string& sandbox, const Condition& condition);
  /// At most one line per sandbox and kind each 10 s; what was left out is counted.
  void limited(LogLevel level, const std::string& sandbox, std::string_view kind,
               std::string_view text);
  [[nodiscard]] bool enabled(LogLevel level) const { return level <= most_; }
  [[nodiscard]] LogLevel most() const { return most_; }
  void set_most(LogLevel level) { most_ = level; }

 private:
  /// nullopt: not now; else what to add about those that were left out.
  [[nodiscard]] std::optional<std::string> admit(const std::string& sandbox, std::string_view kind);

  struct Quiet {
    Instant until{0};
    unsigned left_out = 0;
  };
  const Clock& clock_;
  LogLevel most_;
  std::function<Fields(const std::string& id)> pod_;
  std::map<std::string, Quiet> quiet_;
};

}  // namespace kcg
