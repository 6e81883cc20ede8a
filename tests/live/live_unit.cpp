// SPDX-License-Identifier: Apache-2.0
//
// The daemon as its unit confines it: with those capabilities alone, and in a mount namespace of
// its own, read-only but for its run root, into which the node's later mounts come.
#include <sys/mount.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

/// For setpriv: "-all,+sys_admin,..." of the unit's CapabilityBoundingSet=.
std::string bounding_set() {
  constexpr std::string_view kKey = "CapabilityBoundingSet=";
  std::string all = "-all";
  const auto unit = slurp(KCG_UNIT);
  for (const auto line : lines(unit)) {
    if (!line.starts_with(kKey)) continue;
    for (const auto word : words(line.substr(kKey.size()))) {
      std::string name(word.substr(std::string_view("CAP_").size()));
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      all += ",+" + name;
    }
  }
  return all;
}

class LiveUnit : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) return;
    const auto root = node_->run_root();
    // As systemd makes it on a node; this machine's own mounts may be private.
    ASSERT_EQ(::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr), 0);
    ASSERT_EQ(::mount("none", root.c_str(), nullptr, MS_SHARED, nullptr), 0);
    start_daemon(
        {.wrapper = {"/usr/bin/unshare", "--mount", "--propagation", "slave", "/bin/sh", "-c",
                     "mount -o remount,bind,ro / && exec \"$@\"", "sh", "/usr/bin/setpriv",
                     "--no-new-privs", "--bounding-set=" + bounding_set()}});
  }
  void TearDown() override {
    if (node_) (void)::umount2(node_->run_root().c_str(), MNT_DETACH);  // ignored: with all below
    LiveTest::TearDown();
  }
};

TEST_P(LiveUnit, PlacesWithTheCapabilitiesOfTheUnit) {
  const auto sandbox = node_->sandbox({.vcpus = 2});
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
  EXPECT_EQ(daemon_->complaints(), "");
}

TEST_P(LiveUnit, SeesWhatTheNodeMountsLater) {
  const auto sandbox = node_->sandbox();
  sandbox->remove_files();
  const auto bundle = sandbox->bundle();
  std::filesystem::create_directories(bundle);
  ASSERT_EQ(::mount("none", bundle.c_str(), "tmpfs", 0, nullptr), 0);
  sandbox->write_files();
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  ASSERT_EQ(::umount2(bundle.c_str(), MNT_DETACH), 0);
  const auto mounts = fmt::format("/proc/{}/mountinfo", daemon_->pid());
  EXPECT_EQ(slurp(mounts).find(sandbox->id()), std::string::npos)
      << "it holds what the node let go";
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

KCG_ON_BOTH_TREES(LiveUnit);

/// The kernel's rule that keeps CAP_SYS_NICE in the unit; the cgroup2 tree beside v1 has no cpuset.
class LiveCpuset : public LiveTest {
 protected:
  [[nodiscard]] static Child run(std::vector<std::string> argv) {
    Command command;
    command.argv = std::move(argv);
    return Child::start(command);
  }
  /// What moving `pid` ends with, by somebody with these capabilities.
  [[nodiscard]] int moved(int pid, const std::string& capabilities) const {
    const auto group = node_->corner().directory(node_->corner().top() + "/x", "cpuset");
    auto mover = run({"/usr/bin/setpriv", "--bounding-set=" + capabilities, "/bin/sh", "-c",
                      fmt::format("echo {} >{}/cgroup.procs 2>/dev/null", pid, group)});
    return mover.wait(kPatience).value_or(-1);
  }
};

TEST_P(LiveCpuset, TakesAProcessWithMoreCapabilitiesOnlyForSysNice) {
  node_->corner().make(node_->corner().top() + "/x");
  const auto able = run({"/bin/sleep", "1000"});
  EXPECT_NE(moved(able.pid(), bounding_set() + ",-sys_nice"), 0) << "the unit can do without it";
  EXPECT_EQ(moved(able.pid(), bounding_set()), 0);
}

KCG_ON_TREE(LiveCpuset, v1);

}  // namespace
}  // namespace kcg::live
