// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/printable.hpp"
#include "history/condition_news.hpp"

namespace kcg {

namespace {

constexpr Instant kQuietTime = std::chrono::seconds(10);
constexpr std::size_t kMostQuiet = 4096;

/// $JOURNAL_STREAM names the device and inode of stderr when that is the journal.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat st{};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &st) != 0) return false;
  return fmt::format("{}:{}", st.st_dev, st.st_ino) == stream;
}

LogLevel level_of(Severity severity) {
  switch (severity) {
    case Severity::info:
      return LogLevel::info;
    case Severity::warning:
      return LogLevel::warning;
    case Severity::error:
      return LogLevel::error;
  }
  return LogLevel::error;
}

void to_journal(LogLevel level, std::string_view text, const Log::Fields& fields) {
  std::vector<std::string> lines = {fmt::format("MESSAGE={}", text),
                                    fmt::format("PRIORITY={}", static_cast<int>(level))};
  for (const auto& [key, value] : fields) lines.push_back(fmt::format("{}={}", key, value));
  std::vector<iovec> parts;
  for (auto& line : lines) parts.push_back({line.data(), line.size()});
  (void)sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));  // ignored: nowhere to tell
}

}  // namespace

std::string_view log_target() {
  static const bool journal = stderr_is_journal();
  return journal ? "journal" : "console";
}

void print_line(LogLevel level, std::string_view text) {
  static const bool person = ::isatty(STDERR_FILENO) != 0;
  const auto priority = person ? "" : fmt::format("<{}>", static_cast<int>(level));
  fmt::print(stderr, "{}{}\n", priority, printable_lines(text));
}

void Log::say(LogLevel level, std::string_view text, const Fields& fields) const {
  if (!enabled(level)) return;
  if (log_target() == "journal")
    to_journal(level, printable_lines(text), fields);
  else
    print_line(level, text);
}

Log::Fields Log::fields_of(const std::string& sandbox) const {
  Fields fields = {{"SANDBOX_ID", sandbox}};
  if (!pod_) return fields;
  for (auto& field : pod_(sandbox)) fields.push_back(std::move(field));
  return fields;
}

void Log::condition(const std::string& sandbox, const Condition& condition, bool active) const {
  const auto& row = kcg::info(condition.condition);
  auto fields = fields_of(sandbox);
  fields.insert(fields.end(), {{"CONDITION", std::string(row.name)},
                               {"SEVERITY", std::string(name(condition.severity))},
                               {"ACTIVE", active ? "1" : "0"},
                               {"MESSAGE_ID", std::string(row.message_id)}});
  say(active ? level_of(condition.severity) : LogLevel::info,
      fmt::format("sandbox '{}': {}{}: {}", sandbox, row.name, active ? "" : " cleared",
                  condition.text),
      fields);
}

void Log::condition_again(const std::string& sandbox, const Condition& condition) {
  std::string more;
  if (!told_each_time(condition.condition)) {
    const auto admitted = admit(sandbox, kcg::info(condition.condition).name);
    if (!admitted) return;
    more = *admitted;
  }
  auto told = condition;
  told.text += more;
  this->condition(sandbox, told, true);
}

std::optional<std::string> Log::admit(const std::string& sandbox, std::string_view kind) {
  if (quiet_.size() > kMostQuiet) quiet_.clear();
  auto& quiet = quiet_[fmt::format("{} {}", sandbox, kind)];
  const auto now = clock_.now();
  if (now < quiet.until) {
    ++quiet.left_out;
    return std::nullopt;
  }
  auto more = quiet.left_out > 0 ? fmt::format(" ({} more like it)", quiet.left_out) : "";
  quiet = {now + kQuietTime, 0};
  return more;
}

void Log::limited(LogLevel level, const std::string& sandbox, std::string_view kind,
                  std::string_view text) {
  if (!enabled(level)) return;
  const auto more = admit(sandbox, kind);
  if (more) say(level, fmt::format("sandbox '{}': {}{}", sandbox, text, *more), fields_of(sandbox));
}

}  // namespace kcg
