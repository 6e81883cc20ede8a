// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/text.hpp"

#include <gtest/gtest.h>

namespace kcg::cgctl {
namespace {

struct NumberRow {
  const char* name;
  std::uint64_t value;
  const char* text;
};

TEST(BytesText, HasAtMostFourDigits) {
  const NumberRow rows[] = {
      {"nothing", 0, "0"},
      {"below the first unit", 1023, "1023"},
      {"exactly one", 1024, "1K"},
      {"a fraction is cut, not rounded", 1536 + 100, "1.5K"},
      {"ten and more have none", 10 * 1024 + 512, "10K"},
      {"overhead", 367001600, "350M"},
      {"a sandbox limit keeps its MiB", 1172307968, "1118M"},
      {"a round GiB", 10ULL << 30, "10G"},
      {"the largest unit grows", 20000ULL << 40, "20000T"},
  };
  for (const auto& row : rows) EXPECT_EQ(bytes_text(row.value), row.text) << row.name;
}

TEST(DurationText, NamesTheTwoLargestUnits) {
  const struct {
    std::int64_t seconds;
    const char* text;
  } rows[] = {{-5, "0s"},       {0, "0s"},
              {59, "59s"},      {60, "1m"},
              {3599, "59m"},    {3600, "1h0m"},
              {11520, "3h12m"}, {86399, "23h59m"},
              {86400, "1d0h"},  {9 * 86400 + 4 * 3600, "9d4h"}};
  for (const auto& row : rows) EXPECT_EQ(duration_text(row.seconds), row.text);
}

TEST(CpuText, IsInHundredthsOfASecond) {
  EXPECT_EQ(cpu_text(0), "0.00s");
  EXPECT_EQ(cpu_text(12'345'678), "12.34s");
  EXPECT_EQ(cpu_text(59'999), "0.05s");
}

TEST(Printable, LeavesNothingThatATerminalObeys) {
  const struct {
    const char* name;
    std::string text;
    const char* shown;
  } rows[] = {
      {"plain", "CPU 0/KVM", "CPU 0/KVM"},
      {"quotes stay", "'a' \"b\"", "'a' \"b\""},
      {"letters beyond ASCII stay", "Müller …", "Müller …"},
      {"escape sequence", "\x1b[31mred", "\\x1b[31mred"},
      {"newline and delete", "a\nb\x7f", "a\\x0ab\\x7f"},
      {"one-byte CSI",
       "\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},
      {"not UTF-8", "a\xff\xfe", "a\\xff\\xfe"},
      {"cut in the middle", "\xe2\x80", "\\xe2\\x80"},
      {"NUL", std::string("a\0b", 3), "a\\x00b"},
  };
  for (const auto& row : rows) EXPECT_EQ(printable(row.text), row.shown) << row.name;
}

TEST(Cut, CountsCharactersNotBytes) {
  EXPECT_EQ(cut_end("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(cut_end("abcdef", 4, "…"), "abc…");
  EXPECT_EQ(cut_end("äöüß", 3, "…"), "äö…");
  EXPECT_EQ(cut_end("abc", 0, "…"), "");
  EXPECT_EQ(cut_front("/a/b/vcpu", 6, "…"), "…/vcpu");
  EXPECT_EQ(cut_front("/a/b", 4, "~"), "/a/b");
  EXPECT_EQ(cut_front("äöüß", 2, "~"), "~ß");
  EXPECT_EQ(cut_front("abc", 0, "~"), "");
  for (std::size_t width = 0; width < 12; ++width) {
    EXPECT_LE(columns_of(cut_end("0123456789", width, "…")), width);
    EXPECT_LE(columns_of(cut_front("0123456789", width, "…")), width);
  }
}

TEST(ParseBytes, TakesSuffixesAndNothingElse) {
  const struct {
    const char* text;
    std::optional<std::uint64_t> bytes;
  } rows[] = {{"0", 0},
              {"367001600", 367001600},
              {"350M", 367001600},
              {"1K", 1024},
              {"2G", 2ULL << 30},
              {"1T", 1ULL << 40},
              {"", {}},
              {"M", {}},
              {"-1", {}},
              {"1.5G", {}},
              {"350Mi", {}},
              {"350m", {}},
              {" 1", {}},
              {"18446744073709551615", 18446744073709551615ULL},
              {"18446744073709551616", {}},
              {"18014398509481984K", {}}};
  for (const auto& row : rows) {
    const auto bytes = parse_bytes(row.text);
    EXPECT_EQ(bytes ? std::optional(*bytes) : std::nullopt, row.bytes) << row.text;
    if (bytes) continue;
    EXPECT_NE(bytes.error().text.find(row.text), std::string::npos) << bytes.error().text;
  }
}

}  // namespace
}  // namespace kcg::cgctl
