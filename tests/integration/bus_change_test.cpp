// SPDX-License-Identifier: Apache-2.0
//
// Members that change something: who may call them, what they check, when they answer.
#include <unistd.h>

#include "base/text.hpp"
#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class BusChange : public BusStand {};
class OpenBusChange : public BusStand {
 protected:
  OpenBusChange() : BusStand(Policy::open) {}
};

constexpr const char* kLogControl = "/org/freedesktop/LogControl1";

const std::vector<std::vector<std::string>> kPrivileged = {
    {kRoot, kManager, "RegisterSandbox", "sa{sv}", "abcd", "0"},
    {kRoot, kManager, "UnregisterSandbox", "s", "abcd"},
    {kRoot, kManager, "Reconcile", "sb", "", "false"},
    {kRoot, kManager, "Reload"},
    {first_object(), kSandbox, "Reconcile", "b", "false"},
    {kLogControl, "org.freedesktop.DBus.Properties", "Set", "ssv", "org.freedesktop.LogControl1",
     "LogLevel", "s", "debug"},
};

std::vector<std::string> call_of(const std::vector<std::string>& rest) {
  std::vector<std::string> argv = {"call", kService};
  argv.insert(argv.end(), rest.begin(), rest.end());
  return argv;
}

TEST_F(BusChange, ThePolicyRefusesOtherUsers) {
  for (const auto& row : kPrivileged) {
    const auto refused = busctl(call_of(row), kNobody);
    EXPECT_NE(refused.status, 0) << row[2];
    EXPECT_NE(refused.err.find("Access denied"), std::string::npos) << refused.err;
  }
  command("nothing");
  EXPECT_EQ(daemon_->count("re"), 1U) << "only 'ready'";
}

TEST_F(BusChange, ThePolicyLetsEverybodyRead) {
  for (const std::vector<std::string>& row : std::vector<std::vector<std::string>>{
           {kRoot, kManager, "ListSandboxes"},
           {kRoot, kManager, "ListIgnored"},
           {kRoot, kManager, "ListRegistrations"},
           {kRoot, kManager, "GetStats"},
           {kRoot, kManager, "GetSandbox", "s", "012345"},
           {kRoot, kManager, "Plan", "s", ""},
           {kRoot, kManager, "Explain", "s", ""},
           {kRoot, kManager, "Events", "s", ""},
           {kRoot, kManager, "Recommend", "s", ""},
           {first_object(), kSandbox, "Plan"},
           {first_object(), kSandbox, "Explain"},
           {first_object(), kSandbox, "GetStats"},
           {kRoot, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"},
           {kRoot, "org.freedesktop.DBus.Introspectable", "Introspect"},
           {kRoot, "org.freedesktop.DBus.Peer", "Ping"},
           {kRoot, "org.freedesktop.DBus.Properties", "GetAll", "s", kManager}}) {
    const auto answered = busctl(call_of(row), kNobody);
    EXPECT_EQ(answered.status, 0) << row[2] << answered.err;
  }
}

TEST_F(BusChange, ThePolicyLetsNobodyElseOwnTheName) {
  daemon_.reset();
  Server thief({KCG_FAKE_DAEMON, bus_.address()}, kNobody);
  const auto said = thief.expect("claimed");
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->starts_with("not claimed: ")) << *said;
}

TEST_F(OpenBusChange, TheServiceItselfRefusesOtherUsersToo) {
  for (const auto& row : kPrivileged) {
    const auto refused = busctl(call_of(row), kNobody);
    EXPECT_NE(refused.status, 0) << row[2];
    EXPECT_NE(refused.err.find("is for root only, and uid 65534 called it"), std::string::npos)
        << refused.err;
  }
  command("nothing");
  EXPECT_EQ(daemon_->count("re"), 1U) << "only 'ready'";
}

TEST_F(BusChange, RegisterReachesTheManagerWhole) {
  const auto pid = std::to_string(getpid());
  const auto ended = cgctl({"register",
                            "new1",
                            "--cgroups-path",
                            "/a/b",
                            "--handler",
                            "kata",
                            "--pod-namespace",
                            "ns",
                            "--pod-name",
                            "p",
                            "--pod-uid",
                            "u",
                            "--shim-pid",
                            pid,
                            "--vmm-pid",
                            pid,
                            "--memory-overhead",
                            "350M",
                            "--cpu-overhead",
                            "250",
                            "--sandbox-cgroup-only",
                            "true",
                            "--annotation",
                            "a=b",
                            "--container",
                            "c1:memory=1M",
                            "--container",
                            "c2"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "registered\n");
  const auto seen = daemon_->expect("register new1");
  ASSERT_TRUE(seen);
  const auto task = pid + ":";
  EXPECT_TRUE(seen->starts_with("register new1 path=/a/b handler=kata pod=ns/p/u shim=" + task));
  EXPECT_NE(seen->find(" vmm=" + task), std::string::npos);
  EXPECT_TRUE(seen->ends_with(" memory=367001600 cpu=250 only=yes annotations=1 c1=1048576 c2=0"))
      << *seen;
}

TEST_F(BusChange, RegisterRefusesWhatItDoesNotUnderstand) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    const char* text;
  } rows[] = {
      {"unknown key", {"abcd", "1", "MemoryOverhed", "t", "1"}, "unknown key 'MemoryOverhed'"},
      {"it tells the known ones", {"abcd", "1", "X", "t", "1"}, "CpuOverheadMilli, MemoryOverhead"},
      {"wrong type",
       {"abcd", "1", "MemoryOverhead", "s", "1"},
       "MemoryOverhead: a value of type 's', must be 't'"},
      {"wrong width",
       {"abcd", "1", "MemoryOverhead", "u", "1"},
       "MemoryOverhead: a value of type 'u', must be 't'"},
      {"unknown key of a container",
       {"abcd", "1", "Containers", "a(sa{sv})", "1", "c1", "1", "Memory", "t", "1"},
       "Containers: 'c1': unknown key 'Memory'"},
      {"container twice",
       {"abcd", "1", "Containers", "a(sa{sv})", "2", "c1", "0", "c1", "0"},
       "Containers: 'c1': given twice"},
      {"bad id", {"../x", "0"}, "../x"},
      {"empty id", {"", "0"}, ""},
      {"the manager's own refusal", {"full", "0"}, "no room for 'full'"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = {"RegisterSandbox", "sa{sv}"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const auto refused = call(arguments);
    EXPECT_NE(refused.status, 0) << row.name;
    EXPECT_NE(refused.err.find(row.text), std::string::npos) << row.name << ": " << refused.err;
  }
  command("nothing");
  EXPECT_EQ(daemon_->count("register "), 0U);
}

TEST_F(BusChange, UnregisterTakesAFullId) {
  EXPECT_EQ(cgctl({"unregister", "abcd"}).status, 0);
  EXPECT_TRUE(daemon_->expect("unregister abcd"));
}

TEST_F(BusChange, ReconcileAnswersWhenTheWorkIsDone) {
  Server waiting({KCG_CGCTL, "--bus", bus_.address(), "reconcile", "012345", "--adopt"});
  ASSERT_TRUE(daemon_->expect(std::string("reconcile '") + samples::kFirstId + "' true"));
  // Meanwhile everybody else is served.
  EXPECT_EQ(cgctl({"list"}).status, 0);
  EXPECT_TRUE(waiting.running());
  command("answer 7");
  EXPECT_TRUE(waiting.expect("7 steps applied"));
  EXPECT_EQ(waiting.wait(), 0);
}

TEST_F(BusChange, NobodyAdoptsAllAtOnce) {
  const auto refused = call({"Reconcile", "sb", "", "true"});
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(refused.err.find("must be named"), std::string::npos) << refused.err;
  command("nothing");
  EXPECT_EQ(daemon_->count("reconcile "), 0U);
}

TEST_F(BusChange, ReconcileOfAnObjectIsForItsSandbox) {
  Server waiting({"busctl", "--address=" + bus_.address(), "call", kService, first_object(),
                  kSandbox, "Reconcile", "b", "false"});
  ASSERT_TRUE(daemon_->expect(std::string("reconcile '") + samples::kFirstId + "' false"));
  command("answer 0");
  EXPECT_TRUE(waiting.expect("u 0"));
}

TEST_F(BusChange, ReconcileCanFail) {
  Server waiting({"dbus-send", "--bus=" + bus_.address(), "--print-reply",
                  std::string("--dest=") + kService, kRoot, std::string(kManager) + ".Reconcile",
                  "string:", "boolean:false"});
  ASSERT_TRUE(daemon_->expect("reconcile '' false"));
  command("refuse");
  EXPECT_EQ(waiting.wait(), 1);
  Server told({KCG_CGCTL, "--bus", bus_.address(), "--json", "reconcile"});
  ASSERT_TRUE(daemon_->expect("reconcile '' false"));
  command("refuse");
  EXPECT_EQ(told.wait(), 1);
}

TEST_F(BusChange, ACallerThatDoesNotWaitIsNoTrouble) {
  {
    Server impatient({KCG_CGCTL, "--bus", bus_.address(), "reconcile"});
    ASSERT_TRUE(daemon_->expect("reconcile '' false"));
  }
  command("answer 3");
  EXPECT_EQ(cgctl({"list"}).status, 0);
}

/// `systemctl service-log-level`.
class LogControl : public BusStand {
 protected:
  [[nodiscard]] std::string get(const std::string& property) const {
    return busctl({"get-property", kService, kLogControl, "org.freedesktop.LogControl1", property})
        .out;
  }
  [[nodiscard]] Ended set(const std::string& property, const std::string& value) const {
    return busctl({"set-property", kService, kLogControl, "org.freedesktop.LogControl1", property,
                   "s", value});
  }
};

TEST_F(LogControl, TellsAndTakesALevel) {
  EXPECT_EQ(get("LogLevel"), "s \"info\"\n");
  EXPECT_EQ(get("LogTarget"), "s \"console\"\n");
  EXPECT_EQ(get("SyslogIdentifier"), "s \"kata-cgroupd\"\n");
  for (const auto& [asked, in_force] : std::vector<std::pair<std::string, std::string>>{
           {"debug", "debug"}, {"warning", "warning"}, {"err", "err"}, {"emerg", "err"}}) {
    const auto changed = set("LogLevel", asked);
    EXPECT_EQ(changed.status, 0) << changed.err;
    EXPECT_EQ(get("LogLevel"), "s \"" + in_force + "\"\n");
  }
}

TEST_F(LogControl, SaysWhatItDoesNotTake) {
  const auto unknown = set("LogLevel", "loud");
  EXPECT_NE(unknown.err.find("'loud' is not one of err, warning, notice, info, debug"),
            std::string::npos)
      << unknown.err;
  const auto elsewhere = set("LogTarget", "kmsg");
  EXPECT_NE(elsewhere.err.find("LogTarget cannot be changed"), std::string::npos) << elsewhere.err;
  EXPECT_NE(set("SyslogIdentifier", "x").status, 0);
  EXPECT_EQ(get("LogLevel"), "s \"info\"\n");
}

}  // namespace
}  // namespace kcg::integration
