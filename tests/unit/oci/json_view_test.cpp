// SPDX-License-Identifier: Apache-2.0
#include "oci/json_view.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oci/parse_json.hpp"

namespace kcg {
namespace {

/// The problem that `read` meets in `text`; "" if none.
template <class Read>
std::string problem_of(const std::string& text, Read read) {
  const auto json = parse_json(text);
  if (!json) return json.error().text;
  JsonProblem problem;
  read(JsonView(*json, problem));
  return problem.text;
}

TEST(JsonView, Numbers) {
  const struct {
    const char *name, *json;
    std::optional<std::int64_t> i64;
    std::optional<std::uint64_t> u64;
    bool i64_bad, u64_bad;
  } rows[] = {
      {"absent", "{}", {}, {}, false, false},
      {"null is absent", R"({"n":null})", {}, {}, false, false},
      {"zero", R"({"n":0})", 0, 0, false, false},
      {"negative", R"({"n":-1})", -1, {}, false, true},
      {"smallest", R"({"n":-9223372036854775808})", INT64_MIN, {}, false, true},
      {"largest signed", R"({"n":9223372036854775807})", INT64_MAX, INT64_MAX, false, false},
      {"largest", R"({"n":18446744073709551615})", {}, UINT64_MAX, true, false},
      {"overflow", R"({"n":18446744073709551616})", {}, {}, true, true},
      {"fraction", R"({"n":1.9})", {}, {}, true, true},
      {"whole but written as a fraction", R"({"n":1.0})", {}, {}, true, true},
      {"exponent", R"({"n":1e3})", {}, {}, true, true},
      {"true", R"({"n":true})", {}, {}, true, true},
      {"text", R"({"n":"1"})", {}, {}, true, true},
      {"list", R"({"n":[1]})", {}, {}, true, true},
      {"twice: the last counts", R"({"n":1,"n":2})", 2, 2, false, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto i64 = problem_of(row.json, [&](const auto& v) { EXPECT_EQ(v.i64("n"), row.i64); });
    const auto u64 = problem_of(row.json, [&](const auto& v) { EXPECT_EQ(v.u64("n"), row.u64); });
    EXPECT_EQ(!i64.empty(), row.i64_bad) << i64;
    EXPECT_EQ(!u64.empty(), row.u64_bad) << u64;
  }
}

TEST(JsonView, NumbersOf32Bits) {
  const struct {
    const char* json;
    std::optional<std::uint32_t> value;
    bool bad;
  } rows[] = {
      {"{}", {}, false},
      {R"({"n":0})", 0, false},
      {R"({"n":4294967295})", UINT32_MAX, false},
      {R"({"n":4294967296})", {}, true},
      {R"({"n":-1})", {}, true},
      {R"({"n":1.5})", {}, true},
      {R"({"n":257777777777777777777777777777770})", {}, true},
  };
  for (const auto& row : rows) {
    const auto said =
        problem_of(row.json, [&](const auto& v) { EXPECT_EQ(v.u32("n"), row.value) << row.json; });
    EXPECT_EQ(!said.empty(), row.bad) << said;
  }
}

TEST(JsonView, NamesKeyAndValue) {
  EXPECT_EQ(problem_of(R"({"a":{"b":-1}})", [](const auto& v) { (void)v.object("a").u64("b"); }),
            "a.b: -1, not a whole number from 0 to 2^64-1");
  EXPECT_EQ(problem_of(R"({"a":[{},{"b":7}]})",
                       [](const auto& v) {
                         for (const auto& item : v.objects("a")) (void)item.text("b");
                       }),
            "a[1].b: 7, not a string");
  EXPECT_EQ(problem_of(R"({"a":"x"})", [](const auto& v) { (void)v.object("a").u64("b"); }),
            R"(a: \x22x\x22, not an object)");
  EXPECT_EQ(problem_of("{}", [](const auto& v) { (void)v.required("a").u64("b"); }), "a: missing");
  EXPECT_EQ(problem_of("[]", [](const auto& v) { (void)v.text("a"); }),
            "top level: [], not an object");
}

TEST(JsonView, KeepsTheFirstProblem) {
  EXPECT_EQ(problem_of(R"({"a":1,"b":2})",
                       [](const auto& v) {
                         (void)v.text("a");
                         (void)v.text("b");
                       }),
            "a: 1, not a string");
}

TEST(JsonView, OtherTypes) {
  const std::string text = R"({"yes":true,"s":"x","l":[{}],"m":{"k":"v","n":null}})";
  const auto none = problem_of(text, [](const auto& v) {
    EXPECT_EQ(v.boolean("yes"), true);
    EXPECT_EQ(v.text("s"), "x");
    EXPECT_EQ(v.objects("l").size(), 1U);
    EXPECT_TRUE(v.object("m").has("k"));
    EXPECT_FALSE(v.object("m").has("n")) << "null is absent";
    EXPECT_EQ(v.object("m").keys(), (std::vector<std::string>{"k", "n"}));
    EXPECT_TRUE(v.object("x").keys().empty());
    EXPECT_FALSE(v.object("x").has("k"));
    EXPECT_TRUE(v.object("m").present());
    EXPECT_FALSE(v.object("x").object("y").present());
  });
  EXPECT_EQ(none, "");
  const auto bad = [](const char* json, auto read) {
    EXPECT_NE(problem_of(json, read), "") << json;
  };
  bad(R"({"b":1})", [](const auto& v) { EXPECT_EQ(v.boolean("b"), std::nullopt); });
  bad(R"({"b":"true"})", [](const auto& v) { EXPECT_EQ(v.boolean("b"), std::nullopt); });
  bad(R"({"s":"a\u0000b"})", [](const auto& v) { EXPECT_EQ(v.text("s"), std::nullopt); });
  bad(R"({"l":{}})", [](const auto& v) { EXPECT_TRUE(v.objects("l").empty()); });
  bad(R"({"l":[1]})", [](const auto& v) { EXPECT_EQ(v.objects("l").size(), 1U); });
}

TEST(JsonView, ProblemsOfAPartCanBeKeptApart) {
  JsonProblem apart;
  const auto whole = problem_of(R"({"a":{"b":1},"c":2})", [&](const auto& v) {
    EXPECT_EQ(v.object("a").apart(apart).text("b"), std::nullopt);
    EXPECT_EQ(v.i64("c"), 2);
  });
  EXPECT_EQ(whole, "");
  EXPECT_EQ(apart.text, "a.b: 1, not a string");
}

}  // namespace
}  // namespace kcg
