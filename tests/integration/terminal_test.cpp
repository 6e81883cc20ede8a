// SPDX-License-Identifier: Apache-2.0
//
// top and watch in a real terminal. tmux in control mode tells whatever the program draws, as it
// does, so that nothing has to be looked at again and again.
#include <cstdlib>

#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class InATerminal : public BusStand {
 protected:
  /// A terminal of 100 columns and 24 lines in which cgctl runs.
  void open(const std::string& verb) {
    open_with(std::string(KCG_CGCTL) + " --bus " + bus_.address() + " " + verb);
  }
  void open_with(const std::string& command) {
    ::setenv("TERM", "screen", 1);  // NOLINT(concurrency-mt-unsafe): one thread
    terminal_ = std::make_unique<Server>(
        std::vector<std::string>{"tmux", "-S", bus_.directory() + "/tmux", "-f", "/dev/null", "-C",
                                 "new-session", "-x", "100", "-y", "24", command});
  }
  void press(const std::string& key) { terminal_->say("send-keys " + key); }

  std::unique_ptr<Server> terminal_;
};

TEST_F(InATerminal, TopIsDrawnTakesKeysAndLeaves) {
  open("top");
  // A drawing may come in several lines; its end is what is waited for.
  ASSERT_TRUE(terminal_->expect("n name"));
  EXPECT_GT(terminal_->count("2 sandboxes"), 0U);
  press("j");
  press("Enter");
  ASSERT_TRUE(terminal_->expect("q back"));
  EXPECT_GT(terminal_->count("What is wrong"), 0U) << "the second one is degraded";
  press("q");
  ASSERT_TRUE(terminal_->expect("n name"));
  press("q");
  EXPECT_TRUE(terminal_->expect("%exit"));
}

TEST_F(InATerminal, TopNeedsATerminalUnlessItIsToEndByItself) {
  const auto refused = cgctl({"top"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("--once"), std::string::npos) << refused.err;
  const auto once = cgctl({"top", "--once"}, kNobody);
  EXPECT_EQ(once.status, 0) << once.err;
  EXPECT_TRUE(once.out.starts_with("POD ")) << once.out;
  EXPECT_NE(once.out.find("default/nginx"), std::string::npos) << once.out;
  EXPECT_NE(cgctl({"top", "--json"}).out.find("\"over_msec\": "), std::string::npos);
}

TEST_F(InATerminal, WatchTellsEventsUntilItIsInterrupted) {
  open("watch");
  ASSERT_TRUE(terminal_->expect("kata-cgroupd runs"));
  command("add watched0000");
  EXPECT_TRUE(terminal_->expect("found"));
  command("happen");
  EXPECT_TRUE(terminal_->expect("repaired cpu.max of vcpu"));
  press("C-c");
  EXPECT_TRUE(terminal_->expect("%exit"));
}

TEST_F(InATerminal, TheDaemonTellsAPersonNoPriorities) {
  open_with(std::string(KCG_DAEMON) +
            " --config /nowhere.toml --check-config; echo it is over; cat");
  ASSERT_TRUE(terminal_->expect("it is over"));  // what comes at once may be one line of tmux's
  EXPECT_GT(terminal_->count("/nowhere.toml"), 0U);
  EXPECT_EQ(terminal_->count("<3>"), 0U);
  press("C-c");
  EXPECT_TRUE(terminal_->expect("%exit"));
}

}  // namespace
}  // namespace kcg::integration
