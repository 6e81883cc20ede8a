// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_status.hpp"

#include <charconv>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "kernel/sizes.hpp"

namespace kcg {

Result<std::uint32_t> parse_real_uid(std::string_view text) {
  constexpr std::string_view kKey = "Uid:";
  for (const auto line : lines(text)) {
    if (!line.starts_with(kKey)) continue;
    const auto ids = words(line.substr(kKey.size()));
    const auto uid = ids.empty() ? std::nullopt : parse_u64(ids.front());
    if (!uid || *uid > std::numeric_limits<std::uint32_t>::max())
      return fail(0, "status: no uid in '{}'", escaped(line));
    return static_cast<std::uint32_t>(*uid);
  }
  return fail(0, "status: no line 'Uid:'");
}

Result<std::uint64_t> parse_blocked_signals(std::string_view text) {
  constexpr std::string_view kKey = "SigBlk:";
  for (const auto line : lines(text)) {
    if (!line.starts_with(kKey)) continue;
    const auto mask = trim(line.substr(kKey.size()));
    std::uint64_t value = 0;
    const char* end = mask.data() + mask.size();
    const auto [rest, error] = std::from_chars(mask.data(), end, value, 16);
    if (mask.empty() || error != std::errc() || rest != end)
      return fail(0, "status: no signal mask in '{}'", escaped(line));
    return value;
  }
  return fail(0, "status: no line '{}'", kKey);
}

Result<std::uint64_t> parse_charged_memory(std::string_view text) {
  std::uint64_t sum = 0;
  for (const auto line : lines(text)) {
    const auto all = words(line);
    if (all.empty() || (all[0] != "RssAnon:" && all[0] != "RssShmem:")) continue;
    const auto bytes = bytes_of_kib(all);
    if (!bytes) return fail(0, "status: no size in '{}'", escaped(line));
    sum += *bytes;
  }
  return sum;
}

Result<std::uint64_t> parse_huge_memory(std::string_view text) {
  for (const auto line : lines(text)) {
    const auto all = words(line);
    if (all.empty() || all[0] != "HugetlbPages:") continue;
    const auto bytes = bytes_of_kib(all);
    if (!bytes) return fail(0, "status: no size in '{}'", escaped(line));
    return *bytes;
  }
  return 0;
}

std::size_t pid_namespaces(std::string_view text) {
  constexpr std::string_view kKey = "NSpid:";
  for (const auto line : lines(text))
    if (line.starts_with(kKey)) return words(line.substr(kKey.size())).size();
  return 0;
}

}  // namespace kcg
