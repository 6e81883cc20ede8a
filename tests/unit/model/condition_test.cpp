// SPDX-License-Identifier: Apache-2.0
#include "model/condition.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kcg {
namespace {

TEST(Conditions, TableIsInDeclarationOrderAndComplete) {
  const auto& all = all_conditions();
  ASSERT_EQ(static_cast<std::size_t>(ConditionName::vmm_ended) + 1, kConditionCount);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all.at(i).condition), i) << all.at(i).name;
    EXPECT_EQ(&info(all.at(i).condition), &all.at(i));
  }
}

TEST(Conditions, NamesAreCamelCaseAndUnique) {
  std::set<std::string_view> names;
  for (const auto& row : all_conditions()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.name.front() >= 'A' && row.name.front() <= 'Z') << row.name;
    EXPECT_EQ(row.name.find_first_of("_- "), std::string_view::npos) << row.name;
  }
}

TEST(Conditions, MessageIdsAreJournalIdsAndUnique) {
  std::set<std::string_view> ids;
  for (const auto& row : all_conditions()) {
    EXPECT_TRUE(ids.insert(row.message_id).second) << row.name;
    EXPECT_EQ(row.message_id.size(), 32U) << row.name;
    EXPECT_EQ(row.message_id.find_first_not_of("0123456789abcdef"), std::string_view::npos);
  }
}

TEST(Conditions, SomeSeveritiesThatAlertsDependOn) {
  EXPECT_EQ(info(ConditionName::oom_killed).severity, Severity::error);
  EXPECT_EQ(info(ConditionName::parent_undersized).severity, Severity::error);
  EXPECT_EQ(info(ConditionName::quota_clamped).severity, Severity::info);
  EXPECT_EQ(info(ConditionName::invalid_annotation).name, "InvalidAnnotation");
}

TEST(Conditions, TheCaseMaySayHowBadItIs) {
  EXPECT_EQ((Condition{ConditionName::parent_undersized, ""}).severity, Severity::error);
  EXPECT_EQ((Condition{ConditionName::parent_undersized, "", Severity::info}).severity,
            Severity::info);
}

}  // namespace
}  // namespace kcg
