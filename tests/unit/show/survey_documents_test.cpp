// SPDX-License-Identifier: Apache-2.0
#include "show/survey_documents.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/sample_views.hpp"

namespace kcg::test {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(SurveyDocument, GivesBackWhatWasKept) {
  const auto survey = samples::survey();
  EXPECT_EQ(parse_survey_document(survey_document(survey)), survey);
  EXPECT_EQ(parse_survey_document(survey_document(Survey())), Survey());
}

TEST(SurveyDocument, IsRefusedWithWhatIsWrong) {
  const auto good = survey_document(samples::survey());
  const struct {
    const char* name;
    std::string text;
    const char* error;
  } rows[] = {
      {"no JSON", "{", "not a document of version 1"},
      {"another version", replaced(good, "\"version\": 1", "\"version\": 2"),
       "not a document of version 1"},
      {"no list", "{\"version\":1,\"handlers\":{}}", "handlers is not a list"},
      {"a handler is none", "{\"version\":1,\"handlers\":[7]}", "a handler: is not an object"},
      {"no time", replaced(good, "\"first\": \"2", "\"first\": \"x2"),
       "a handler: first is not a time"},
      {"a sum", replaced(good, "\"ram\": ", "\"ram\": \"\",\"x\": "),
       "a handler: growth: ram is not a number"},
      {"a size of guest", replaced(good, "\"guest_up_to_bytes\": 2", "\"guest_up_to_bytes\": 3"),
       "a handler: by_guest: guest_up_to_bytes is no power of two"},
      {"a step", replaced(good, "\"steps\": [", "\"steps\": [[1920, 1],"),
       "a handler: by_guest: steps has something else than a step and how often it was seen"},
      {"too often", replaced(good, "\"steps\": [", "\"steps\": [[7, 18446744073709551615],"),
       "a handler: by_guest: steps has something else than a step and how often it was seen"},
  };
  for (const auto& row : rows) {
    const auto parsed = parse_survey_document(row.text);
    ASSERT_FALSE(parsed) << row.name;
    EXPECT_EQ(parsed.error().text, row.error) << row.name;
  }
}

TEST(AdviceDocument, GivesBackWhatWasAdvised) {
  const auto advices = advice_of(samples::survey(), "");
  ASSERT_EQ(advices.size(), 2U);
  EXPECT_EQ(parse_advice_document(advice_document(advices)), advices);
}

}  // namespace
}  // namespace kcg::test
