// SPDX-License-Identifier: Apache-2.0
//
// What the daemon said last, from the journal.
#include <systemd/sd-journal.h>

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "tools/cgctl/doctor/report.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr int kMostLines = 300;
constexpr std::size_t kLongest = 2000;

/// Resource: an open journal.
struct Closer {
  void operator()(sd_journal* journal) const { sd_journal_close(journal); }
};
using Journal = std::unique_ptr<sd_journal, Closer>;

tl::unexpected<Error> journal_error(int r) { return fail(-r, "journal: {}", errno_text(-r)); }

Result<Journal> open_journal() {
  sd_journal* journal = nullptr;
  const int opened = sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY);
  Journal out(journal);
  if (opened < 0) return journal_error(opened);
  const int r = sd_journal_add_match(journal, "_SYSTEMD_UNIT=kata-cgroupd.service", 0);
  if (r < 0) return journal_error(r);
  return Result<Journal>(std::move(out));
}

std::string line_of(sd_journal* journal) {
  const void* data = nullptr;
  std::size_t size = 0;
  std::uint64_t usec = 0;
  if (sd_journal_get_data(journal, "MESSAGE", &data, &size) < 0) return "";
  std::string_view text(static_cast<const char*>(data), size);
  text.remove_prefix(std::min(text.size(), std::string_view("MESSAGE=").size()));
  std::string line(text.substr(0, kLongest));
  for (auto& c : line) c = c == '\n' ? ' ' : c;
  if (sd_journal_get_realtime_usec(journal, &usec) < 0) return line + "\n";
  return fmt::format("{} {}\n", rfc3339(static_cast<std::int64_t>(usec / 1'000'000)), line);
}

}  // namespace

Result<std::string> journal_lines() {
  const auto journal = open_journal();
  if (!journal) return forward(journal.error());
  auto* const from = journal->get();
  if (const int r = sd_journal_seek_tail(from); r < 0) return journal_error(r);
  if (const int r = sd_journal_previous_skip(from, kMostLines); r < 0) return journal_error(r);
  std::string out;
  // Standing on the oldest of them; without any the first step goes nowhere.
  for (int n = 0; n < kMostLines; ++n) {
    out += line_of(from);
    if (sd_journal_next(from) <= 0) break;
  }
  return out;
}

}  // namespace kcg::cgctl::doctor
