// SPDX-License-Identifier: Apache-2.0
#include "config/nesting.hpp"

#include <gtest/gtest.h>

#include <string>

#include "config/settings.hpp"

namespace kcg {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Nesting, AbsurdOnesNameTheirLine) {
  const std::string many_dots = repeated(".", 100);
  const std::string three = R"(""")";
  const struct {
    const char* name;
    std::string text;
    unsigned line;
  } rows[] = {
      {"nothing", "", 0},
      {"ordinary", "[a.b.c]\nd.e = [1, 2] # " + many_dots + "\n", 0},
      {"dots in quotes", "a = \"" + many_dots + "\"\nb = '" + many_dots + "'\n", 0},
      {"escaped quote", "a = \"\\\"" + many_dots + "\"\n", 0},
      {"many lines of text", "a = " + three + "\n" + repeated("[[[[....\n", 100) + three + "\n", 0},
      {"many lines of literal text", "a = '''\n" + repeated("[[[[....\n", 100) + "'''\n", 0},
      {"dots of many lines", repeated("a.b.c = 1\n", 1000), 0},
      {"dotted key", "\n\na" + repeated(".a", 40) + " = 1\n", 3},
      {"table", "\n[a" + repeated(".a", 50'000) + "]\n", 2},
      {"arrays", "a = " + repeated("[", 50'000), 1},
      {"arrays over lines", "a = " + repeated("[\n", 50), 17},
      {"inline tables", "a = " + repeated("{a=", 1000), 1},
      {"behind text that ends with its line", "a = \"x\nb = " + repeated("[", 20), 2},
      {"behind many lines of text", "a = " + three + "\n\n" + three + "\nb = " + repeated("[", 20),
       4},
      {"text without an end", "a = " + three + repeated("[", 100), 0},
      {"a backslash at the end", "a = \"\\", 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(absurd_nesting(row.text), row.line);
    (void)parse_settings(row.text);  // ignored: any answer, but no crash
  }
}

TEST(Nesting, IsAnErrorOfTheFile) {
  const auto settings = parse_settings("x = 1\n[a" + repeated(".a", 50'000) + "]\n");
  EXPECT_EQ(settings.error, "nested more deeply than any configuration needs");
  EXPECT_EQ(settings.error_line, 2U);
}

}  // namespace
}  // namespace kcg
