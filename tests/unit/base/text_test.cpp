// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

using namespace std::string_view_literals;
using Parts = std::vector<std::string_view>;

TEST(Text, Numbers) {
  const struct {
    std::string_view text;
    std::optional<std::uint64_t> u64;
    std::optional<std::int64_t> i64;
    std::optional<std::int32_t> pid;
  } rows[] = {
      {"", {}, {}, {}},
      {"0", 0, 0, {}},
      {"1", 1, 1, 1},
      {"007", 7, 7, 7},
      {"-1", {}, -1, {}},
      {"-0", {}, 0, {}},
      {"--1", {}, {}, {}},
      {"-", {}, {}, {}},
      {"+1", {}, {}, {}},
      {" 1", {}, {}, {}},
      {"1 ", {}, {}, {}},
      {"1\n", {}, {}, {}},
      {"1\0"sv, {}, {}, {}},
      {"1.0", {}, {}, {}},
      {"0x1", {}, {}, {}},
      {"1e3", {}, {}, {}},
      {"2147483647", 2147483647, 2147483647, 2147483647},
      {"2147483648", 2147483648, 2147483648, {}},
      {"9223372036854775807", INT64_MAX, INT64_MAX, {}},
      {"9223372036854775808", 9223372036854775808U, {}, {}},
      {"-9223372036854775808", {}, INT64_MIN, {}},
      {"-9223372036854775809", {}, {}, {}},
      {"18446744073709551615", UINT64_MAX, {}, {}},
      {"18446744073709551616", {}, {}, {}},
      {"99999999999999999999999999", {}, {}, {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_u64(row.text), row.u64);
    EXPECT_EQ(parse_i64(row.text), row.i64);
    EXPECT_EQ(parse_pid(row.text), row.pid);
  }
  EXPECT_EQ(parse_u64(std::string_view()), std::nullopt);
}

TEST(Text, Split) {
  EXPECT_EQ(split("", ':'), (Parts{""}));
  EXPECT_EQ(split("a:b::c", ':'), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split(":", ':'), (Parts{"", ""}));
}

TEST(Text, LastOf) {
  EXPECT_EQ(last_of("", 'a'), std::string_view::npos);
  EXPECT_EQ(last_of("bcd", 'a'), std::string_view::npos);
  EXPECT_EQ(last_of("abcab", 'a'), 3U);
  EXPECT_EQ(last_of("abc", 'a'), 0U);
}

TEST(Text, Words) {
  EXPECT_EQ(words(""), Parts{});
  EXPECT_EQ(words(" \t\n"), Parts{});
  EXPECT_EQ(words(" cpu\tcpuset \n io"), (Parts{"cpu", "cpuset", "io"}));
}

TEST(Text, Lines) {
  EXPECT_EQ(lines(""), Parts{});
  EXPECT_EQ(lines("\n"), (Parts{""}));
  EXPECT_EQ(lines("a\n\nb"), (Parts{"a", "", "b"}));
  EXPECT_EQ(lines("a\nb\n"), (Parts{"a", "b"}));
}

TEST(Text, Trim) {
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim(" \n\t\r"), "");
  EXPECT_EQ(trim("\ta b\n"), "a b");
}

TEST(Text, Join) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"", "a", ""}, ", "), ", a, ");
}

TEST(Text, Escaped) {
  const struct {
    std::string_view text;
    std::size_t max;
    const char* out;
  } rows[] = {
      {"", 64, ""},
      {"plain text", 64, "plain text"},
      {"a\nb\x1b[31m", 64, R"(a\x0ab\x1b[31m)"},
      {R"('"\)", 64, R"(\x27\x22\x5c)"},
      {"\0\x7f\xc3\xa9"sv, 64, R"(\x00\x7f\xc3\xa9)"},
      {"abcd", 4, "abcd"},
      {"abcde", 4, "abcd..."},
      {"abc\n", 4, "abc..."},
      {"x", 0, "..."},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.out);
    EXPECT_EQ(escaped(row.text, row.max), row.out);
  }
}

}  // namespace
}  // namespace kcg
