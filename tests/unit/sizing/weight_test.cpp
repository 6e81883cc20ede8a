// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sizing/containers.hpp"
#include "sizing/numbers.hpp"
#include "sizing/overhead.hpp"
#include "sizing/sizing.hpp"
#include "sizing_rows.hpp"

namespace kcg {
namespace {

TEST(Weight, NewCurve) {
  const struct {
    std::uint64_t shares, weight;
  } rows[] = {{0, 1},
              {1, 1},
              {2, 1},
              {102, 17},
              {512, 59},
              {1024, 100},
              {2048, 174},
              {10240, 639},
              {262144, 10000},
              {262145, 10000},
              {3, 2},
              {262143, 10000},
              {UINT64_MAX, 10000}};
  for (const auto& row : rows) EXPECT_EQ(weight_of_shares(row.shares), row.weight) << row.shares;
}

TEST(Weight, OldCurve) {
  const struct {
    std::uint64_t shares, weight;
  } rows[] = {{0, 1}, {2, 1}, {1024, 39}, {2048, 79}, {262144, 10000}, {UINT64_MAX, 10000}};
  for (const auto& row : rows)
    EXPECT_EQ(weight_of_shares_old(row.shares), row.weight) << row.shares;
}

TEST(Weight, TheCurveThatTheParentFollowsDecides) {
  const struct {
    const char* name;
    std::optional<std::uint64_t> pod_shares, pod_weight;
    std::uint64_t weight;
  } rows[] = {
      {"nothing known", std::nullopt, std::nullopt, 59},
      {"old curve", 1024, 39, 20},
      {"new curve", 1024, 100, 59},
      {"old curve with overhead shares", 1024, 49, 20},  // 1024 + 256 shares
      {"new curve with overhead shares", 1024, 119, 59},
      {"neither", 1024, 77, 59},
      {"own shares, old curve", std::nullopt, 20, 20},
      {"absurd shares", UINT64_MAX, 10000, 59},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto inputs =
        inputs_of(json::parse(R"({"pod_less":true,"containers":[{"shares":512}]})"));
    SizingRequest request;
    request.parent.pod_shares = row.pod_shares;
    request.parent.pod_weight = row.pod_weight;
    EXPECT_EQ(text_of(size({}, inputs, request).sandbox),
              std::vector<std::string>{"cpu.weight=" + std::to_string(row.weight)});
  }
}

}  // namespace
}  // namespace kcg
