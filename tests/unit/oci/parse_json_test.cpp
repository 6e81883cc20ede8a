// SPDX-License-Identifier: Apache-2.0
#include "oci/parse_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace kcg {
namespace {

using nlohmann::json;

TEST(ParseJson, Refuses) {
  for (const char* bad : {"", " ", "{", "{}x", "{'a':1}", "{\"a\":1,}", "{\"a\":\"\xff\"}", "nul"})
    EXPECT_FALSE(parse_json(bad)) << bad;
  const auto error = parse_json("{\"a\":\x01}").error().text;
  EXPECT_EQ(error.find("not JSON: "), 0U) << error;
  EXPECT_EQ(error.find('\x01'), std::string::npos) << "raw bytes must not reach a log";
}

TEST(ParseJson, BoundsTheDepth) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '{')));
  EXPECT_TRUE(parse_json(fmt::format("[\"{}\"]", std::string(1000, '['))));
  EXPECT_TRUE(parse_json(fmt::format(R"(["\"{}"])", std::string(1000, '[')))) << "escaped quote";
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[],";
  EXPECT_TRUE(parse_json(wide + "[]]"));
}

TEST(ParseJson, ReadsAllAsTheLibraryDoes) {
  for (const char* text :
       {"null", "[]", "{}", "-1", "1.5", R"("x")", "[[],{},[[1,[2]],3]]", R"({"":{"":1}})",
        R"({"a":{"b":[{"c":null},{"c":[true,false]}]},"d":-7,"e":18446744073709551615})",
        R"({"a":1,"a":{"b":2},"a":[3]})", R"({"a":{"b":1},"a":{"c":2}})", R"({"u":"\u00e9"})"})
    EXPECT_EQ(parse_json(text), json::parse(text)) << text;
}

TEST(ParseJson, LeavesOutWhatNobodyWants) {
  const struct {
    const char *name, *text, *read;
  } rows[] = {
      {"what is wanted, and all below it", R"({"a":{"x":[{"y":1}],"b":2}})",
       R"({"a":{"x":[{"y":1}],"b":2}})"},
      {"others", R"({"z":1,"y":[1,{"a":2}],"x":{"a":{"b":3}},"a":4})", R"({"a":4})"},
      {"a key below one, and what it stands in", R"({"l":{"r":{"c":1},"s":[{"r":2}],"t":3}})",
       R"({"l":{"r":{"c":1}}})"},
      {"what it stands in alone", R"({"l":{"s":1}})", R"({"l":{}})"},
      {"what it stands in, empty", R"({"l":null})", R"({"l":null})"},
      {"what it stands in is none", R"({"l":5,"a":[]})", R"({"l":5,"a":[]})"},
      {"in elements of arrays", R"({"l":[{"r":1,"s":2},[{"r":3,"t":[]}],{"s":4},5]})",
       R"({"l":[{"r":1},[{"r":3}],{},5]})"},
      {"a key that begins like one", R"({"lr":1,"ab":2,"l":{"rr":3}})", R"({"l":{}})"},
      {"a key that one begins with", R"({"l":{"e":1,"en":2,"end":{"x":3}}})",
       R"({"l":{"end":{"x":3}}})"},
      {"a key like one, below what nobody wants", R"({"z":{"a":1,"l":{"r":2}}})", "{}"},
      {"of equal ones the last counts", R"({"a":{"b":1},"a":2,"l":{"r":1},"l":{"r":2,"s":0}})",
       R"({"a":2,"l":{"r":2}})"},
      {"no object", R"([{"a":1,"b":2},"x"])", R"([{"a":1},"x"])"},
      {"one value", "7", "7"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_json(row.text, {"a", "l.r", "l.end"}), json::parse(row.read));
  }
}

TEST(ParseJson, WhatNobodyWantsHasToBeRightToo) {
  const auto wants_a = [](const std::string& text) { return parse_json(text, {"a"}).has_value(); };
  EXPECT_TRUE(wants_a(R"({"a":1,"z":[1]})"));
  for (const char* bad : {R"({"a":1,"z":[1})", R"({"a":1,"z":nul})", R"({"a":1,"z":1e999})",
                          R"({"a":1,"z":"\xff"})", R"({"a":1}})", R"({"z":{"a"}})"})
    EXPECT_FALSE(wants_a(bad)) << bad;
  EXPECT_TRUE(wants_a(fmt::format(R"({{"z":{}{}}})", std::string(63, '['), std::string(63, ']'))));
  EXPECT_FALSE(wants_a(fmt::format(R"({{"z":{}{}}})", std::string(64, '['), std::string(64, ']'))));
}

TEST(ParseJson, TheBeginningIsKeptWhereTheRestIsWrong) {
  EXPECT_EQ(beginning_of_json(R"({"z":1,"a":{"b":2,"c)", {"a"}), json::parse(R"({"a":{"b":2}})"));
  EXPECT_EQ(beginning_of_json(R"({"z":1)", {"a"}), json::object());
  EXPECT_EQ(beginning_of_json("", {"a"}), json());
  EXPECT_EQ(beginning_of_json(R"({"a":1})", {"a"}), json::parse(R"({"a":1})"));
}

}  // namespace
}  // namespace kcg
