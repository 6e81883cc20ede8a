// SPDX-License-Identifier: Apache-2.0
//
// A daemon whose mode changes while it runs: what it listens to by writing into groups goes where
// nothing may be written, and comes back where it may.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

class LiveReload : public LiveTest {
 protected:
  /// Listeners for OOM events of v1 are the only such descriptors that a sandbox brings.
  [[nodiscard]] long listeners() const {
    const auto fds = fmt::format("/proc/{}/fd", daemon_->pid());
    std::error_code gone;
    return std::count_if(std::filesystem::directory_iterator(fds),
                         std::filesystem::directory_iterator(), [&](const auto& fd) {
                           return std::filesystem::read_symlink(fd, gone) == "anon_inode:[eventfd]";
                         });
  }
  void reload(const std::string& mode) const {
    const auto arguments = arguments_of(daemon_->pid());
    const auto option = std::find(arguments.begin(), arguments.end(), "--config");
    ASSERT_NE(option, arguments.end());
    if (config_.empty()) config_ = slurp(option[1]);
    std::ofstream(option[1]) << "mode = \"" << mode << "\"\n" << config_;
    ::kill(daemon_->pid(), SIGHUP);
  }

 private:
  mutable std::string config_;
};

TEST_P(LiveReload, OfTheModeTakesTheOomListenersWithIt) {
  start_daemon();
  const auto none = listeners();
  const auto sandbox = node_->sandbox({});
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  EXPECT_TRUE(wait_until([&] { return listeners() > none; }));
  reload("observe");
  EXPECT_TRUE(wait_until([&] { return listeners() == none; })) << listeners();
  reload("enforce");
  EXPECT_TRUE(wait_until([&] { return listeners() > none; }));
  sandbox->end();
}

KCG_ON_TREE(LiveReload, v1);  // v2's listeners need no write

}  // namespace
}  // namespace kcg::live
