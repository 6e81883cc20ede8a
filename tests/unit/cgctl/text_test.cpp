// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/text.hpp"

#include <gtest/gtest.h>

namespace kcg::cgctl {
namespace {

TEST(SizeText, IsForPeople) {
  const struct {
    const char* name;
    std::uint64_t value;
    const char* text;
  } rows[] = {
      {"nothing", 0, "0 MiB"},
      {"below the first unit", 1023, "1023 B"},
      {"exactly one", 1024, "1 KiB"},
      {"a fraction is cut, not rounded", 1536 + 100, "1.5 KiB"},
      {"ten and more have none", 10 * 1024 + 512, "10 KiB"},
      {"overhead", 367001600, "350 MiB"},
      {"a small sandbox", 862ULL << 20, "862 MiB"},
      {"a larger one", 1172307968, "1.0 GiB"},
      {"GiB have a fraction", 2500ULL << 20, "2.4 GiB"},
      {"also above ten", 12800ULL << 20, "12.5 GiB"},
      {"not above a hundred", (100ULL << 30) + (1ULL << 29), "100 GiB"},
      {"the largest unit grows", 20000ULL << 40, "20000 TiB"},
  };
  for (const auto& row : rows) EXPECT_EQ(size_text(row.value), row.text) << row.name;
}

TEST(SizesText, SayOneUnitOnce) {
  EXPECT_EQ(sizes_text(14ULL << 20, 862ULL << 20), "14 / 862 MiB");
  EXPECT_EQ(sizes_text(900ULL << 20, 3ULL << 30), "900 MiB / 3 GiB");
  EXPECT_EQ(sizes_text(0, 3ULL << 30, " of "), "0 of 3 GiB");
}

TEST(CpusText, HasHundredths) {
  EXPECT_EQ(cpus_text(0), "0.00 CPU");
  EXPECT_EQ(cpus_text(1250), "1.25 CPU");
}

TEST(CountText, KnowsOne) {
  EXPECT_EQ(count_text(0, "step"), "0 steps");
  EXPECT_EQ(count_text(1, "step"), "1 step");
}

TEST(AgeText, NamesTheLargestUnit) {
  EXPECT_EQ(age_text(4), "4s");
  EXPECT_EQ(age_text(3599), "59m");
  EXPECT_EQ(age_text(11520), "3h");
  EXPECT_EQ(age_text(9 * 86400 + 5), "9d");
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

TEST(Cut, CountsCharactersNotBytes) {
  EXPECT_EQ(cut_end("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(cut_end("abcdef", 4, "…"), "abc…");
  EXPECT_EQ(cut_end("äöüß", 3, "…"), "äö…");
  EXPECT_EQ(cut_end("abc", 0, "…"), "");
  for (std::size_t width = 0; width < 12; ++width)
    EXPECT_LE(columns_of(cut_end("0123456789", width, "…")), width);
}

TEST(WaitText, Rounds) {
  EXPECT_EQ(wait_text(0), "0.0 ms");
  EXPECT_EQ(wait_text(4199), "4.1 ms");
  EXPECT_EQ(wait_text(41'900), "41 ms");
  EXPECT_EQ(wait_text(1'250'000), "1.2 s");
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
              {"350Mi", 367001600},
              {"1Ki", 1024},
              {"2Gi", 2ULL << 30},
              {"i", {}},
              {"350i", {}},
              {"Mi", {}},
              {"350Mii", {}},
              {"350MB", {}},
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
