// SPDX-License-Identifier: Apache-2.0
//
// The real daemon on a bus of its own. It only observes: the machine's other sandboxes are not
// ours.
#include <unistd.h>

#include <csignal>
#include <memory>

#include "integration/bus_stand.hpp"
#include "integration/documents.hpp"

namespace kcg::integration {
namespace {

constexpr const char* kId = "integration-test-1";

class RealDaemon : public BusStand {
 protected:
  void SetUp() override { launch("--observe"); }

  /// Its log is on stderr; the last line of a start says how many sandboxes there are.
  void launch(const std::string& options, const std::string& how = "exec ") {
    const auto command = how + KCG_DAEMON + " " + options + " --bus " + bus_.address() +
                         " --run-root " + bus_.directory() + " 2>&1";
    daemon_ = std::make_unique<Server>(std::vector<std::string>{"sh", "-c", command});
    ASSERT_TRUE(daemon_->expect(": cgroup "));
  }
};

TEST_F(RealDaemon, OwnsItsNameWhenItIsReady) {
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "Mode"}).out, "s \"observe\"\n");
  const auto listed = cgctl({"list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.err, "");
}

/// In a network namespace of its own the kernel has no process events for it.
class DaemonWithoutEvents : public RealDaemon {
 protected:
  void SetUp() override { launch("--observe", "exec unshare --net "); }
};

TEST_F(DaemonWithoutEvents, SaysWhatItMissesOnceAndOnTheBus) {
  const auto problems = busctl({"get-property", kService, kRoot, kManager, "Problems"}).out;
  EXPECT_TRUE(problems.starts_with("as 1 \"process events: proc connector: ")) << problems;
  const auto listed = cgctl({"list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_TRUE(listed.err.starts_with("cgctl: the daemon: process events: ")) << listed.err;
  EXPECT_EQ(daemon_->count("<4>process events: "), 1U);
  const auto as_json = cgctl({"list", "--json"});
  EXPECT_EQ(misfit("list", as_json.out), "");
  EXPECT_TRUE(as_json.err.starts_with("{\"version\":1,\"note\":\"the daemon: ")) << as_json.err;
}

TEST_F(RealDaemon, ARegistrationBecomesASandboxAndGoesAgain) {
  ASSERT_EQ(cgctl({"register", kId, "--cgroups-path", "/kcg-integration/" + std::string(kId),
                   "--pod-name", "p", "--memory-overhead", "100M"})
                .status,
            0);
  const auto shown = cgctl({"show", kId, "--json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("\"pod_cgroup\": \"/kcg-integration\""), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("\"memory_bytes\": 104857600"), std::string::npos) << shown.out;
  for (const auto* verb : {"tree", "threads", "plan", "explain"})
    EXPECT_EQ(cgctl({verb, "integration-t"}).status, 0) << verb;
  EXPECT_EQ(cgctl({"unregister", kId}).status, 0);
}

TEST_F(RealDaemon, OnlyWhatCouldBeASandboxsMayBeRegistered) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    const char* text;
  } rows[] = {
      {"init", {"--shim-pid", "1"}, "ShimPidFd: process 1 cannot be a sandbox's: it is the node's"},
      {"init as the VMM", {"--vmm-pid", "1"}, "VmmPidFd: process 1 cannot be"},
      {"a kernel thread", {"--shim-pid", "2"}, "a kernel thread"},
      {"the daemon", {"--shim-pid", std::to_string(daemon_->pid())}, "this daemon or an ancestor"},
      {"its parent", {"--shim-pid", std::to_string(getpid())}, "this daemon or an ancestor"},
      {"the root", {"--cgroups-path", "/"}, "the root of the hierarchy"},
      {"the root, in a roundabout way", {"--cgroups-path", "/a/../.."}, "the root"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = {"register", kId};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const auto refused = cgctl(arguments);
    EXPECT_NE(refused.status, 0) << row.name;
    EXPECT_NE(refused.err.find(row.text), std::string::npos) << row.name << ": " << refused.err;
  }
  EXPECT_EQ(cgctl({"show", kId}).status, 3) << "nothing was registered";
}

TEST_F(RealDaemon, AnIdThatIsRegisteredAgainAndAgainIsNoTrouble) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(cgctl({"register", kId, "--cgroups-path", "/kcg-integration/x"}).status, 0);
    ASSERT_EQ(cgctl({"unregister", kId}).status, 0);
  }
  ASSERT_EQ(cgctl({"register", kId, "--cgroups-path", "/kcg-integration/x"}).status, 0);
  EXPECT_NE(cgctl({"list", "--json"}).out.find(kId), std::string::npos);
}

TEST_F(RealDaemon, ARegistrationSurvivesARestartAndGoesWithItsProcesses) {
  auto vmm = std::make_unique<Server>(std::vector<std::string>{"sleep", "1000"});
  ASSERT_EQ(cgctl({"register", kId, "--cgroups-path", "/kcg-integration/x", "--vmm-pid",
                   std::to_string(vmm->pid())})
                .status,
            0);
  ASSERT_EQ(cgctl({"register", "other", "--cgroups-path", "/kcg-integration/y"}).status, 0);
  const auto another = cgctl({"register", "other", "--vmm-pid", std::to_string(vmm->pid())});
  EXPECT_NE(another.err.find(std::string("belongs to sandbox '") + kId), std::string::npos)
      << another.err;
  daemon_.reset();
  launch("--observe");
  EXPECT_EQ(cgctl({"show", kId}).status, 0);
  vmm.reset();
  ASSERT_TRUE(daemon_->expect("its registration goes"));
  daemon_.reset();
  launch("--observe");
  EXPECT_EQ(cgctl({"show", kId}).status, 3);
  EXPECT_EQ(cgctl({"show", "other"}).status, 0) << "nothing says that it has ended";
}

TEST_F(RealDaemon, EveryDocumentFitsItsSchema) {
  const auto registered =
      cgctl({"register", kId, "--cgroups-path", "/kcg-integration/x", "--json", "--container",
             "c1:memory=512M:cpu-quota=50000:cpu-period=100000"});
  EXPECT_EQ(misfit("change", registered.out), "");
  for (const auto& options : {std::vector<std::string>{"--json"},
                              {"--json", "--no-daemon", "--run-root", bus_.directory()}}) {
    for (const auto* verb : {"list", "tree", "plan", "explain"}) {
      std::vector<std::string> arguments = {verb};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const auto said = cgctl(arguments);
      EXPECT_EQ(said.status, 0) << verb << said.err;
      EXPECT_EQ(misfit(verb, said.out), "") << verb;
    }
  }
  for (const auto* verb : {"show", "tree", "threads", "plan", "explain"}) {
    const auto said = cgctl({verb, kId, "--json"});
    EXPECT_EQ(misfit(verb, said.out), "") << said.err;
  }
  EXPECT_EQ(misfit("error", cgctl({"show", "zzzzzzzz", "--json"}).err), "");
}

TEST_F(RealDaemon, WhoOnlyObservesRefusesToReconcile) {
  const auto refused = cgctl({"reconcile", "--json"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.err.starts_with("{\"version\":1,\"error\":{\"name\":\"ObserveOnly\""))
      << refused.err;
}

TEST_F(RealDaemon, UnknownSandboxesHaveTheirErrors) {
  EXPECT_EQ(cgctl({"show", "zzzzzzzz"}).status, 3);
  EXPECT_EQ(cgctl({"plan", "zzzzzzzz"}).status, 3);
  EXPECT_EQ(cgctl({"show", "zzz"}).status, 3);
}

TEST_F(RealDaemon, ALostBusIsFoundAgain) {
  bus_.kill();
  ASSERT_TRUE(daemon_->expect("lost the bus"));
  bus_.start();
  ASSERT_TRUE(daemon_->expect("connected to the bus"));
  const auto listed = cgctl({"list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.err, "") << "the daemon was not asked";
}

/// A bus that takes connections and answers nothing: the daemon gets ready, works, and comes back.
TEST_F(RealDaemon, ABusThatHangsIsNotWaitedFor) {
  daemon_.reset();
  kill(bus_.pid(), SIGSTOP);
  launch("--observe");
  EXPECT_EQ(daemon_->count("does not answer"), 1U);
  kill(bus_.pid(), SIGCONT);
  ASSERT_TRUE(daemon_->expect("connected to the bus"));
  EXPECT_EQ(cgctl({"list"}).err, "");
  kill(bus_.pid(), SIGSTOP);
  kill(daemon_->pid(), SIGTERM);
  EXPECT_EQ(daemon_->wait(), 0);
  kill(bus_.pid(), SIGCONT);
}

TEST_F(RealDaemon, StopsWhenItIsToldTo) {
  kill(daemon_->pid(), SIGTERM);
  EXPECT_EQ(daemon_->wait(), 0);
}

TEST_F(RealDaemon, ASecondOneDoesNotStart) {
  const auto second = run({KCG_DAEMON, "--observe", "--bus", bus_.address(), "--run-root",
                           bus_.directory() + "/other"});
  EXPECT_NE(second.status, 0);
  EXPECT_NE(second.err.find(kService), std::string::npos) << second.err;
}

/// A daemon that sees only a part of the node refuses to start; what only reads works there.
TEST(PartOfTheNode, IsNotEnough) {
  const struct {
    const char* name;
    std::vector<std::string> enter;
    const char* text;
  } rows[] = {
      {"pid", {"unshare", "--pid", "--fork", "--mount-proc"}, "the pid namespace pid:["},
      {"user", {"unshare", "--user", "--map-root-user"}, "the user namespace user:["},
      {"cgroup", {"unshare", "--cgroup"}, "the cgroup namespace cgroup:["},
  };
  const PrivateBus bus(Policy::open);
  for (const auto& row : rows) {
    for (const auto* mode : {"--observe", "--log-level=info"}) {
      auto command = row.enter;
      for (const auto& part : {std::string(KCG_DAEMON), std::string(mode), std::string("--bus"),
                               std::string("none"), std::string("--run-root"), bus.directory()})
        command.push_back(part);
      const auto refused = run(command);
      EXPECT_EQ(refused.status, 1) << row.name;
      EXPECT_NE(refused.err.find(row.text), std::string::npos) << row.name << refused.err;
    }
    if (std::string(row.name) == "cgroup") continue;  // cgctl says that it cannot see the groups
    auto list = row.enter;
    for (const auto& part : {std::string(KCG_CGCTL), std::string("--no-daemon"),
                             std::string("--run-root"), bus.directory(), std::string("list")})
      list.push_back(part);
    const auto listed = run(list);
    EXPECT_EQ(listed.status, 0) << row.name << listed.err;
  }
}

}  // namespace
}  // namespace kcg::integration
