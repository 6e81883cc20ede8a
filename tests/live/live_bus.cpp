// SPDX-License-Identifier: Apache-2.0
//
// Clients that ask all the time keep no sandbox waiting. What is placed meanwhile is compared with
// the same pods on the same node before.
#include <memory>
#include <vector>

#include "integration/bus_stand.hpp"
#include "integration/flood.hpp"
#include "integration/private_bus.hpp"
#include "support/live/fixture.hpp"
#include "support/live/placing.hpp"

namespace kcg::live {
namespace {

using integration::Flood;
using integration::kManager;

constexpr std::size_t kStanding = 30;

class LiveBus : public LiveTest {
 protected:
  [[nodiscard]] std::unique_ptr<Sandbox> start(const std::string& pod) const {
    auto sandbox = node_->sandbox({.pod = pod, .light = true, .vcpus = 2});
    sandbox->start();
    return sandbox;
  }
};

TEST_P(LiveBus, FloodsKeepNobodyWaiting) {
  integration::PrivateBus bus(integration::Policy::installed);
  bus.start();
  start_daemon({.bus = bus.address()});
  std::vector<std::unique_ptr<Sandbox>> standing;
  for (std::size_t i = 0; i < kStanding; ++i)
    standing.push_back(start(fmt::format("standing{}", i)));
  for (const auto& sandbox : standing) EXPECT_EQ(settle(*sandbox), "");
  const auto before = placing(*node_, "before");
  const struct {
    const char* name;
    integration::Question question;
    std::size_t connections, outstanding;
  } rows[] = {{"two plans of all", {kManager, "Plan", ""}, 1, 2},
              {"lists", {kManager, "ListSandboxes", "-"}, 4, 4},
              {"explanations of one", {kManager, "Explain", standing[0]->id()}, 8, 8}};
  for (const auto& row : rows) {
    const Flood flood(bus.address(), row.question, row.connections, row.outstanding);
    EXPECT_LE(placing(*node_, row.name), kMostTimes * before) << row.name;
    EXPECT_GT(flood.answered(), 0U) << row.name;
  }
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

KCG_ON_BOTH_TREES(LiveBus);

}  // namespace
}  // namespace kcg::live
