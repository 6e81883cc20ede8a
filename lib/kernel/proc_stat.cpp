// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_stat.hpp"

#include <array>
#include <optional>

#include "base/text.hpp"

namespace kcg {

namespace {

// Numbered as in proc(5); the name (2) ends at the last ')', so the first word behind it is 3.
constexpr std::size_t kState = 3, kPpid = 4, kFlags = 9, kUtime = 14, kStime = 15, kStart = 22,
                      kGuest = 43;

/// The words behind the name, by their number in proc(5); the newline is behind the last of them.
/// Nothing is allocated, and each character is looked at once: this is called per thread.
class Fields {
 public:
  explicit Fields(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (count_ < words_.size()) {
      while (at != end && *at == ' ') ++at;
      if (at == end) return;
      const char* const word = at;
      while (at != end && *at != ' ') ++at;
      words_[count_++] = {word, static_cast<std::size_t>(at - word)};
    }
  }
  [[nodiscard]] bool complete() const { return count_ == words_.size(); }
  [[nodiscard]] std::string_view at(std::size_t number) const { return words_.at(number - kState); }

 private:
  std::array<std::string_view, kGuest - kState + 1> words_;
  std::size_t count_ = 0;
};

std::optional<Pid> parent(std::string_view text) {
  if (text == "0") return 0;
  return parse_pid(text);
}

}  // namespace

Result<ProcStat> parse_proc_stat(std::string_view text) {
  const auto open = text.find(" (");
  const auto close = last_of(text, ')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2)
    return fail(0, "stat: no name in parentheses in '{}'", escaped(text, 128));
  const Fields fields(text.substr(close + 1));
  if (!fields.complete())
    return fail(0, "stat: fewer than {} fields in '{}'", kGuest, escaped(text, 128));
  const auto pid = parse_pid(text.substr(0, open));
  const auto ppid = parent(fields.at(kPpid));
  const auto flags = parse_u64(fields.at(kFlags));
  const auto utime = parse_u64(fields.at(kUtime));
  const auto stime = parse_u64(fields.at(kStime));
  const auto start = parse_u64(fields.at(kStart));
  const auto guest = parse_u64(fields.at(kGuest));
  const bool numbers = pid && ppid && flags && utime && stime && start && guest;
  if (!numbers || fields.at(kState).size() != 1)
    return fail(0, "stat: a field is not what proc(5) says in '{}'", escaped(text, 256));
  return ProcStat{*pid,
                  std::string(text.substr(open + 2, close - open - 2)),
                  fields.at(kState).front(),
                  *ppid,
                  *flags,
                  *utime,
                  *stime,
                  *start,
                  *guest};
}

}  // namespace kcg
