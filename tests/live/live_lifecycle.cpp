// SPDX-License-Identifier: Apache-2.0
//
// Daemons and sandboxes that come and go in every order: nothing is lost, nothing leaks, and a
// daemon's end disturbs no sandbox.
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <random>
#include <vector>

#include "base/fd.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

class LiveLifecycle : public LiveTest {
 protected:
  [[nodiscard]] static bool has_groups(const Sandbox& sandbox) {
    return !sandbox.corner().find("kata-sandbox-" + sandbox.id()).empty();
  }
};

class LiveLifecycleV1 : public LiveLifecycle {};

TEST_P(LiveLifecycle, VmmFoundLateIsPlacedWhenAsked) {
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}}});
  sandbox->start();
  EXPECT_EQ(sandbox->truth().vcpus.size(), 2U);
  start_daemon({.config = "[placement]\nexisting = \"place\"\n"});
  EXPECT_EQ(settle(*sandbox), "");
  EXPECT_EQ(unmarked(*sandbox), "");
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveLifecycle, VmmFoundLateIsLeftAloneByDefault) {
  const auto old = node_->sandbox();
  old->start();
  const auto before = threads_of(old->truth().vmm);
  start_daemon();
  const auto fresh = placed({.pod = "podfresh"});
  const auto after = threads_of(old->truth().vmm);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].groups, after[i].groups) << before[i].tid;
  EXPECT_FALSE(has_groups(*old));
}

TEST_P(LiveLifecycle, StartedDuringAnOutageIsPlacedAfterIt) {
  start_daemon();
  const auto first = placed();
  daemon_->kill9();
  const auto second = node_->sandbox({.vcpus = 2});
  second->start();
  EXPECT_EQ(second->truth().vcpus.size(), 2U);
  daemon_->start();
  EXPECT_EQ(settle(*second), "");
  EXPECT_EQ(settle(*first), "");
}

TEST_P(LiveLifecycle, RestartDisturbsNothing) {
  start_daemon();
  const auto sandbox = placed();
  const auto inode = [&] {
    struct stat st = {};
    EXPECT_EQ(::stat(node_->corner().directory(sandbox->group()).c_str(), &st), 0);
    return st.st_ino;
  };
  const auto before = inode();
  daemon_->kill9();
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
  daemon_->start();
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
  EXPECT_EQ(inode(), before) << "the group was made anew";
  sandbox->ask("pullback-vmm");
  EXPECT_EQ(settle(*sandbox), "") << "the restarted daemon must watch as before";
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveLifecycle, LeftoversAreRemovedAtStart) {
  start_daemon();
  const auto sandbox = placed();
  daemon_->kill9();
  sandbox->end();
  EXPECT_TRUE(has_groups(*sandbox)) << "nobody was there to remove them";
  daemon_->start();
  EXPECT_EQ(gone(*sandbox), "");
}

/// Another daemon's sandbox, or one whose files were lost: as long as it lives it is no leftover.
TEST_P(LiveLifecycle, UnknownButLivingSandboxKeepsItsGroups) {
  start_daemon();
  const auto sandbox = placed();  // without names: its io group is empty
  std::vector<std::string> all;
  for (const auto& top : node_->corner().find("kata-sandbox-" + sandbox->id()))
    for (const auto& group : directories(top)) all.push_back(group);
  ASSERT_GE(all.size(), 5U);
  daemon_->kill9();
  sandbox->remove_files();
  std::filesystem::remove(node_->run_root() + "/run/vc/sbs/" + sandbox->id() + "/persist.json");
  daemon_->start();
  const auto another = placed({.pod = "podother"});
  for (const auto& group : all) EXPECT_TRUE(exists(group)) << group;
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
}

TEST_P(LiveLifecycle, SigtermLeavesEverythingAsItIs) {
  start_daemon();
  const auto sandbox = placed({.vcpus = 2});
  const int status = daemon_->terminate();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << daemon_->log();
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
  EXPECT_EQ(unmarked(*sandbox), "");
}

TEST_P(LiveLifecycle, SecondInstanceIsRefused) {
  start_daemon();
  const auto second = node_->daemon();
  second->launch();
  EXPECT_FALSE(second->ready());
  const auto status = second->ended();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) != 0);
  EXPECT_NE(second->log(), "") << "it must say why";
  const auto sandbox = placed();
}

TEST_P(LiveLifecycle, VmmThatDiesAtOnceLeavesNothing) {
  start_daemon();
  const auto sandbox = node_->sandbox({.standin = {{"VMM_ARGS", "-device no-such-device"}}});
  sandbox->start();
  EXPECT_TRUE(wait_until([&] { return sandbox->truth().vmm == 0; }));
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
  const auto next = placed();
}

TEST_P(LiveLifecycle, VmmKilledUnderALivingShim) {
  start_daemon();
  const auto sandbox = placed();
  sandbox->ask("kill-vmm");
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "") << "the shim stays where it is";
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

/// Nothing else tells: Kata's state does not change, the kernel's events of processes are not to be
/// had, and no group of v1 tells that it has run empty. What is looked at because of a timer, and
/// not of a change, does not count.
TEST_P(LiveLifecycleV1, TheEndOfAVmmIsHeardByItsDescriptor) {
  start_daemon({.arguments = {"--log-level", "debug"},
                .wrapper = {"/usr/bin/setpriv", "--bounding-set", "-net_admin"}});
  const auto sandbox = placed();
  EXPECT_NE(daemon_->log().find("proc connector"), std::string::npos) << "it hears them";
  let_it_run();
  const auto before = daemon_->looks();
  ASSERT_EQ(::kill(sandbox->truth().vmm, SIGKILL), 0);
  EXPECT_TRUE(wait_until([&] { return daemon_->looks() > before; }));
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveLifecycle, OrphanedVmmStaysUntilItEnds) {
  start_daemon();
  const auto sandbox = placed({.vcpus = 2});
  auto truth = sandbox->truth();
  sandbox->shim().signal(SIGKILL);
  ASSERT_TRUE(sandbox->shim().wait(kPatience).has_value());
  const auto another = placed({.pod = "podother"});  // the daemon has seen the death by now
  for (const auto& thread : threads_of(truth.vmm)) {
    const auto group = thread.groups.at(v1() ? "cpu" : "");
    EXPECT_EQ(group.rfind(sandbox->group() + "/", 0), 0U) << thread.tid << " in " << group;
  }
  EXPECT_EQ(::kill(truth.vmm, SIGKILL), 0);
  sandbox->remove_files();
  EXPECT_EQ(gone(*sandbox), "");
}

/// Nothing else tells: Kata's state stays as it is.
TEST_P(LiveLifecycle, AHelperThatComesLateIsPlacedByItsExec) {
  start_daemon();
  const auto sandbox = placed();
  let_it_run();
  EXPECT_TRUE(daemon_rests());
  sandbox->ask("start-helper");
  EXPECT_EQ(settle(*sandbox), "");
  EXPECT_FALSE(sandbox->truth().helpers.empty());
}

/// Nobody but the groups that it is in tells of its end.
TEST_P(LiveLifecycle, WhoOutlivesShimAndVmmIsWaitedFor) {
  start_daemon();
  const auto sandbox = placed({.standin = {{"HELPER", "1"}}});
  const auto truth = sandbox->truth();
  ASSERT_FALSE(truth.helpers.empty());
  sandbox->shim().signal(SIGKILL);
  ASSERT_TRUE(sandbox->shim().wait(kPatience).has_value());
  ASSERT_EQ(::kill(truth.vmm, SIGKILL), 0);
  sandbox->remove_files();
  EXPECT_TRUE(wait_until([&] {
    return daemon_->log().find("RemovalBlocked") != std::string::npos;
  })) << "its tries are used up";
  EXPECT_TRUE(has_groups(*sandbox));
  for (const int helper : truth.helpers) ASSERT_EQ(::kill(helper, SIGKILL), 0);
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveLifecycle, DeleteHelperAfterADeadShim) {
  start_daemon();
  const auto sandbox = placed();
  sandbox->shim().signal(SIGKILL);
  ASSERT_TRUE(sandbox->shim().wait(kPatience).has_value());
  auto command = sandbox->shim_command();
  command.argv.insert(command.argv.end(), {"-bundle", sandbox->bundle(), "delete"});
  auto helper = Child::start(command);
  EXPECT_EQ(helper.wait(kPatience), 0);
  sandbox->remove_files();
  EXPECT_EQ(gone(*sandbox), "");
}

/// Value: when the daemon is killed.
struct Moment {
  const char* name;
  std::function<bool(const Sandbox&)> reached;
};

std::vector<Moment> moments() {
  const auto directory = [](const Sandbox& s, const char* below) {
    return s.corner().directory(s.group() + below);
  };
  return {
      {"the bundle is there", [](const Sandbox&) { return true; }},
      {"the sandbox group exists", [=](const Sandbox& s) { return exists(directory(s, "")); }},
      {"the last class group exists",
       [=](const Sandbox& s) { return exists(directory(s, "/shim")); }},
      {"someone is in a class group",
       [=](const Sandbox& s) {
         const auto file = s.corner().tree() == Tree::v1 ? "/tasks" : "/cgroup.threads";
         return !slurp(directory(s, "/vmm") + file).empty() ||
                !slurp(directory(s, "/shim") + file).empty();
       }},
      {"the first vCPU is in place",
       [=](const Sandbox& s) {
         const auto file = s.corner().tree() == Tree::v1 ? "/tasks" : "/cgroup.threads";
         return !slurp(directory(s, "/vcpu") + file).empty();
       }},
  };
}

TEST_P(LiveLifecycle, Kill9AtAnyMomentIsHealedByTheNextStart) {
  start_daemon();
  for (const auto& moment : moments()) {
    SCOPED_TRACE(moment.name);
    const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}}});
    sandbox->start();
    EXPECT_TRUE(wait_until([&] { return moment.reached(*sandbox); }, kPatience,
                           std::chrono::milliseconds(0)));
    daemon_->kill9();
    EXPECT_EQ(sandbox->truth().vcpus.size(), 2U);
    daemon_->start();
    EXPECT_EQ(settle(*sandbox), "");
    EXPECT_EQ(unmarked(*sandbox), "");
    sandbox->end();
    EXPECT_EQ(gone(*sandbox), "");
  }
}

TEST_P(LiveLifecycle, TwentyOrdinaryPodsAreNoReasonToSayAnything) {
  start_daemon();
  for (int i = 0; i < 20; ++i) {
    const auto sandbox = placed({.pod = fmt::format("pod{}", i),
                                 .vcpus = 2,
                                 .standin = {{"HELPER", "1"}, {"SAVE_GAP_MS", "5"}}});
    for (const char* const name : {"first", "second"}) {
      const auto id = fmt::format("{}{}", name, i);
      // The cgroup2 tree beside v1 has neither memory nor cpu.
      sandbox->run_container({id, name, v1() ? 64 << 20 : 0, v1() ? 50'000 : 0});
      EXPECT_EQ(settle(*sandbox), "");
      if (i % 2 == 0) sandbox->end_container(id);
    }
    sandbox->end();
    EXPECT_EQ(gone(*sandbox), "");
  }
  EXPECT_EQ(daemon_->complaints(), "");
}

/// A service manager that froze, as systemd does when it crashes, does not freeze us.
TEST_P(LiveLifecycle, AManagerThatDoesNotReadHoldsNothingUp) {
  start_daemon();
  sockaddr_un manager{};
  manager.sun_family = AF_UNIX;
  for (const auto& entry : std::filesystem::directory_iterator(node_->run_root()))
    if (entry.path().string().ends_with("notify"))
      std::strncpy(manager.sun_path, entry.path().c_str(), sizeof manager.sun_path - 1);
  ASSERT_NE(manager.sun_path[0], '\0');
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto say = [&] {
    return ::sendto(socket.get(), "X=1", 3, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&manager),
                    sizeof manager);
  };
  while (say() > 0) continue;
  ASSERT_EQ(errno, EAGAIN);
  // It tells once a second how many there are.
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; std::chrono::steady_clock::now() - begin < std::chrono::seconds(3); ++i) {
    const auto sandbox = placed({.pod = fmt::format("pod{}", i), .light = true});
    sandbox->end();
    ASSERT_EQ(gone(*sandbox), "");
  }
}

/// Starts and ends go on while the daemon is killed again and again; KCG_KILLS says how often.
TEST_P(LiveLifecycle, AStormOfKillsLosesAndLeaksNothing) {
  constexpr std::size_t kLiving = 6;
  const char* const wanted = std::getenv("KCG_KILLS");
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::deque<std::unique_ptr<Sandbox>> living;
  std::vector<std::unique_ptr<Sandbox>> ended;
  start_daemon();
  for (int kill = wanted != nullptr ? std::atoi(wanted) : 30; kill > 0; --kill) {
    living.push_back(node_->sandbox(
        {.pod = fmt::format("pod{}", kill), .names = true, .light = true, .vcpus = 2}));
    living.back()->start();
    if (living.size() > kLiving) {
      living.front()->end();
      ended.push_back(std::move(living.front()));
      living.pop_front();
    }
    // At whatever moment, but not always at the same one.
    const auto before = node_->corner().find("kata-sandbox-").size();
    const std::chrono::milliseconds patience(random() % 80);
    (void)wait_until([&] { return node_->corner().find("kata-sandbox-").size() != before; },
                     patience);
    daemon_->kill9();
    daemon_->start();
  }
  for (const auto& sandbox : living) EXPECT_EQ(settle(*sandbox), "");
  for (const auto& sandbox : ended) EXPECT_EQ(gone(*sandbox), "");
  for (const auto& sandbox : living) sandbox->end();
  for (const auto& sandbox : living) EXPECT_EQ(gone(*sandbox), "");
}

KCG_ON_BOTH_TREES(LiveLifecycle);
KCG_ON_TREE(LiveLifecycleV1, v1);

}  // namespace
}  // namespace kcg::live
