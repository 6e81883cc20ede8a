// SPDX-License-Identifier: Apache-2.0
#include "model/plan.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Plan, OpNames) {
  const std::pair<Op, std::string_view> rows[] = {
      {Op::enable, "enable"},
      {Op::create, "create"},
      {Op::mark, "mark"},
      {Op::seed, "seed"},
      {Op::device, "device"},
      {Op::limit, "limit"},
      {Op::move_process, "move-process"},
      {Op::move_thread, "move-thread"},
      {Op::remove, "remove"},
      {Op::start_scope, "start-scope"},
      {Op::set_scope, "set-scope"},
  };
  for (const auto& [op, text] : rows) EXPECT_EQ(name(op), text);
}

TEST(Report, CountsWhatWasDone) {
  Report report;
  EXPECT_EQ(report.done(), 0U);
  for (const auto outcome :
       {Outcome::done, Outcome::failed, Outcome::skipped, Outcome::pending, Outcome::done}) {
    report.results.emplace_back();
    report.results.back().outcome = outcome;
  }
  EXPECT_EQ(report.done(), 2U);
}

}  // namespace
}  // namespace kcg
