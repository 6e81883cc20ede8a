// SPDX-License-Identifier: Apache-2.0
#include "show/history_documents.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/sample_views.hpp"

namespace kcg {
namespace {

TEST(HistoryDocuments, WhatWasWrittenIsReadBack) {
  const auto all = samples::histories();
  EXPECT_EQ(parse_history_document(history_document(all, false)).value(), all);
  EXPECT_EQ(parse_history_document(history_document({all[1]}, true)).value(),
            std::vector<SandboxHistory>{all[1]});
  EXPECT_TRUE(parse_history_document(history_document({}, false)).value().empty());
}

TEST(HistoryDocuments, TextThatIsNotUtf8IsWrittenAllTheSame) {
  auto one = samples::histories()[1];
  one.events.front().text = "\xff";
  EXPECT_TRUE(parse_history_document(history_document({one}, true)));
}

TEST(HistoryDocuments, WhatIsNoHistoryIsRefusedWithTheReason) {
  using Json = nlohmann::json;
  const auto good = Json::parse(history_document({samples::histories()[0]}, true));
  const auto with = [&](const char* pointer, const Json& value) {
    auto changed = good;
    changed[Json::json_pointer(pointer)] = value;
    return changed.dump();
  };
  const struct {
    std::string text, why;
  } rows[] = {{"", "not a document of version 1"},
              {"[]", "not a document of version 1"},
              {with("/version", 2), "not a document of version 1"},
              {with("/sandbox", ""), "sandbox is missing"},
              {with("/sandbox", 7), "sandbox is not text"},
              {with("/engine", "podman"), "engine has an unknown value"},
              {with("/pod", "nginx"), "pod: is not an object"},
              {with("/created", "yesterday"), "created is not a time"},
              {with("/events", "none"), "events is not a list"},
              {with("/events/0", "none"), "an event: is not an object"},
              {with("/events/0/kind", "born"), "an event: kind has an unknown value"},
              {with("/events/0/times", -1), "an event: times is not a count"},
              {with("/events/0/times", 4294967296), "an event: times is not a count"},
              {R"({"version": 1, "sandboxes": {}})", "sandboxes is not a list"}};
  for (const auto& row : rows) {
    const auto read = parse_history_document(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().text, row.why);
  }
}

}  // namespace
}  // namespace kcg
