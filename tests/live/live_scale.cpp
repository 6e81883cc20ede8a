// SPDX-License-Identifier: Apache-2.0
//
// 200 sandboxes as fast as the machine makes them, while the rest of the node forks and executes
// two thousand programs per second: all are placed, none leaks, and the daemon's memory comes back.
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

constexpr std::size_t kSandboxes = 200;
constexpr std::size_t kWarmUp = 20;
constexpr std::uint64_t kMostKib = 24 * 1024 + kQuarantineKib;

class LiveScale : public LiveTest {
 protected:
  using Many = std::vector<std::unique_ptr<Sandbox>>;

  [[nodiscard]] Many start(std::size_t count) const {
    Many all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(node_->sandbox({.pod = fmt::format("pod{}", i),
                                    .names = true,
                                    .light = true,
                                    .vcpus = 2,
                                    .standin = {{"GROUP_DELAY_MS", "0"}, {"MOVE_DELAY_MS", "0"}}}));
      all.back()->start();
    }
    return all;
  }
  static void expect_placed(const Many& all) {
    for (const auto& sandbox : all) EXPECT_EQ(settle(*sandbox), "") << sandbox->id();
  }
  void end(Many& all) const {
    for (const auto& sandbox : all) sandbox->shim().signal(SIGTERM);
    for (const auto& sandbox : all) {
      EXPECT_TRUE(sandbox->shim().wait(kPatience).has_value());
      sandbox->remove_files();
    }
    EXPECT_TRUE(wait_until([&] { return node_->corner().find("kata-sandbox-").empty(); }))
        << node_->corner().find("kata-sandbox-").size() << " groups leak";
    all.clear();
  }
  /// Memory is given back when the daemon has seen the last end, not before. What stays is bounded
  /// whatever their number: code that ran for the first time, the stacks of reader threads, who
  /// sent hints lately, and what has happened to the last 200 that ended.
  void expect_memory_back(std::uint64_t before) const {
    constexpr std::uint64_t kStays = 6144 + kQuarantineKib;
    EXPECT_TRUE(wait_until([&] { return resident_kib(daemon_->pid()) <= before + kStays; }))
        << resident_kib(daemon_->pid()) << " KiB now, " << before << " KiB before";
  }
};

TEST_P(LiveScale, TwoHundredAmongStrangers) {
  start_daemon();
  auto first = start(kWarmUp);  // what is loaded and allocated once
  expect_placed(first);
  end(first);
  const auto before = resident_kib(daemon_->pid());
  Command command;
  command.argv = {built("tests/support/strangers"), "2000"};
  command.groups = node_->corner().system();
  command.output = node_->run_root() + "/strangers";
  auto strangers = Child::start(command);
  auto all = start(kSandboxes);
  expect_placed(all);
  const auto peak = resident_kib(daemon_->pid());
  EXPECT_LT(peak, kMostKib);
  end(all);
  strangers.signal(SIGTERM);
  EXPECT_TRUE(strangers.wait(kPatience).has_value());
  expect_memory_back(before);
  EXPECT_EQ(daemon_->standing_complaints(), "");
  RecordProperty("strangers", slurp_line(command.output));
  RecordProperty("resident_kib_with_200", std::to_string(peak));
  std::printf("strangers %s, resident %lu KiB before, %lu with %zu, %lu after\n",
              slurp_line(command.output).c_str(), before, peak, kSandboxes,
              resident_kib(daemon_->pid()));
}

TEST_P(LiveScale, FoundAllAtOnce) {
  auto all = start(kSandboxes);
  for (const auto& sandbox : all) EXPECT_NE(sandbox->truth().vmm, 0);
  start_daemon({.config = "[placement]\nexisting = \"place\"\n"});
  expect_placed(all);
  end(all);
}

KCG_ON_BOTH_TREES(LiveScale);

}  // namespace
}  // namespace kcg::live
