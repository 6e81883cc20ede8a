// SPDX-License-Identifier: Apache-2.0
//
// The D-Bus API as any client sees it.
#include <fstream>

#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class BusApi : public BusStand {};

TEST_F(BusApi, IntrospectionEqualsTheXml) {
  const struct {
    const char* source;
    std::string object;
  } rows[] = {{KCG_DBUS_XML "/io.katacontainers.CgroupManager1.Manager.xml", kRoot},
              {KCG_DBUS_XML "/io.katacontainers.CgroupManager1.Sandbox.xml", first_object()}};
  for (const auto& row : rows) {
    const auto said = busctl({"introspect", "--xml-interface", kService, row.object});
    ASSERT_EQ(said.status, 0) << said.err;
    const auto file = bus_.directory() + "/said.xml";
    std::ofstream(file) << said.out;
    const auto compared = run({"python3", KCG_SAME_INTERFACE, row.source, file});
    EXPECT_EQ(compared.status, 0) << compared.out << compared.err;
  }
}

TEST_F(BusApi, StandardInterfacesAreThere) {
  const auto root = busctl({"introspect", kService, kRoot});
  for (const auto* interface :
       {"org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties",
        "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer"})
    EXPECT_NE(root.out.find(interface), std::string::npos) << interface;
}

TEST_F(BusApi, ListSandboxesHasIdObjectAndOverview) {
  const auto listed = call({"ListSandboxes"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_TRUE(listed.out.starts_with("a(soa{sv}) 2 ")) << listed.out;
  for (const auto& part :
       {std::string(samples::kFirstId), std::string(samples::kSecondId), first_object(),
        std::string("\"PodName\" s \"nginx\""), std::string("\"MemoryLimit\" t 1172307968"),
        std::string("\"MemoryLimit\" t 18446744073709551615")})
    EXPECT_NE(listed.out.find(part), std::string::npos) << part;
  for (const auto* part : {"\"Threads\"", "\"Groups\"", "\"Containers\"", "ffff0000"})
    EXPECT_EQ(listed.out.find(part), std::string::npos) << part;
}

TEST_F(BusApi, ListIgnoredTellsTheReason) {
  const auto listed = call({"ListIgnored"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_TRUE(listed.out.starts_with("a(sa{sv}) 1 \"ffff0000ffff0000ffff0000ffff0000\""));
  EXPECT_NE(listed.out.find("\"Reason\" s \"no proof that this is Kata"), std::string::npos);
}

TEST_F(BusApi, GetSandboxTakesIdsAndPrefixes) {
  const struct {
    const char* name;
    std::string id;
    std::string error;
  } rows[] = {
      {"full id", samples::kFirstId, ""},       {"prefix", "012345", ""},
      {"prefix of two", "0123", "AmbiguousId"}, {"too short", "012", "NoSuchSandbox"},
      {"unknown", "zzzz", "NoSuchSandbox"},     {"empty", "", "NoSuchSandbox"},
  };
  for (const auto& row : rows) {
    const auto ended = run({"dbus-send", "--bus=" + bus_.address(), "--print-reply=literal",
                            std::string("--dest=") + kService, kRoot,
                            std::string(kManager) + ".GetSandbox", "string:" + row.id});
    if (row.error.empty()) {
      EXPECT_NE(ended.out.find(first_object()), std::string::npos) << row.name << ended.err;
      continue;
    }
    const auto name = "Error io.katacontainers.CgroupManager1.Error." + row.error;
    EXPECT_NE(ended.err.find(name), std::string::npos) << row.name << ended.err;
  }
}

TEST_F(BusApi, ManagerProperties) {
  const struct {
    const char* name;
    const char* value;
  } rows[] = {{"Version", "s \"9.9\"\n"},
              {"Mode", "s \"enforce\"\n"},
              {"Hierarchy", "s \"v2\"\n"},
              {"SandboxCount", "u 2\n"},
              {"ConditionCount", "u 2\n"}};
  for (const auto& row : rows)
    EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, row.name}).out, row.value);
  const auto features = busctl({"get-property", kService, kRoot, kManager, "Features"}).out;
  EXPECT_NE(features.find("\"fake\""), std::string::npos);
  EXPECT_NE(features.find("\"register:ShimPidFd\""), std::string::npos);
}

TEST_F(BusApi, PlanAndExplainAreTheJsonDocuments) {
  for (const auto* member : {"Plan", "Explain"}) {
    const auto all = call({member, "s", ""});
    EXPECT_NE(all.out.find("sandboxes"), std::string::npos) << all.err;
    const auto one = busctl({"call", kService, first_object(), kSandbox, member});
    EXPECT_EQ(one.out.find("sandboxes"), std::string::npos);
    EXPECT_NE(one.out.find(samples::kFirstId), std::string::npos) << one.err;
  }
}

TEST_F(BusApi, ThreadsAndGroupsAreReadAfreshOncePerQuestion) {
  const auto all = busctl({"--json=short", "call", kService, first_object(),
                           "org.freedesktop.DBus.Properties", "GetAll", "s", kSandbox});
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_NE(all.out.find("CPU 1/KVM"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("kata-sandbox-0123456789abcdef/vcpu"), std::string::npos);
  ASSERT_TRUE(busctl({"get-property", kService, first_object(), kSandbox, "Threads"}).status == 0);
  command("nothing");
  EXPECT_EQ(daemon_->count("view "), 2U);
}

TEST_F(BusApi, WhatIsDearToReadIsNotReadAllTheTime) {
  command("slow 1000");  // then it serves for four seconds
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(busctl({"get-property", kService, first_object(), kSandbox, "Threads"}).status, 0);
  command("nothing");
  EXPECT_EQ(daemon_->count("view "), 1U);
}

TEST_F(BusApi, WhoAsksForAllObjectsDoesNotMakeTheDaemonReadTheNode) {
  const auto objects = busctl({"--json=short", "call", kService, kRoot,
                               "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"});
  ASSERT_EQ(objects.status, 0) << objects.err;
  EXPECT_NE(objects.out.find(first_object()), std::string::npos);
  EXPECT_NE(objects.out.find("\"Threads\":{\"type\":\"aa{sv}\",\"data\":[]}"), std::string::npos);
  command("nothing");
  EXPECT_EQ(daemon_->count("view "), 0U);
  // Who asks for one afterwards gets all of it.
  const auto one = busctl({"get-property", kService, first_object(), kSandbox, "Threads"});
  EXPECT_NE(one.out.find("CPU 1/KVM"), std::string::npos) << one.out;
}

TEST_F(BusApi, ALargeAnswerArrivesWhole) {
  command("crowd 3000");
  const auto threads = busctl({"get-property", kService, first_object(), kSandbox, "Threads"});
  ASSERT_EQ(threads.status, 0) << threads.err;
  EXPECT_TRUE(threads.out.starts_with("aa{sv} 3000 ")) << threads.out.substr(0, 80);
}

TEST_F(BusApi, GetStatsMeasuresNow) {
  const auto stats = busctl({"call", kService, first_object(), kSandbox, "GetStats"});
  ASSERT_EQ(stats.status, 0) << stats.err;
  for (const auto* part :
       {"\"MemoryCurrent\" t 536870912", "\"MemoryLimit\" t 1172307968", "\"ThreadCount\" u 4",
        "\"MisplacedThreads\" u 2", "\"CpuUsecVcpu\" t 84830000", "\"CpuUsecIo\" t 0"})
    EXPECT_NE(stats.out.find(part), std::string::npos) << part << stats.out;
}

TEST_F(BusApi, GetStatsOfAllTellsWhatWasMeasured) {
  const auto stats = call({"GetStats"});
  ASSERT_EQ(stats.status, 0) << stats.err;
  EXPECT_TRUE(stats.out.starts_with("a(sa{sv}) 2 ")) << stats.out;
  EXPECT_NE(stats.out.find("\"MemoryOverheadUsedBytes\" t 189792256"), std::string::npos)
      << stats.out;
}

TEST_F(BusApi, BytesThatAreNotUtf8DoNotStopAnAnswer) {
  command("hostile");
  const auto threads = busctl({"get-property", kService, first_object(), kSandbox, "Threads"});
  ASSERT_EQ(threads.status, 0) << threads.err;
  EXPECT_NE(threads.out.find(R"("a\357\277\275\n")"), std::string::npos) << threads.out;
}

TEST_F(BusApi, ASandboxThatVanishesWhileItIsLookedAtIsNoTrouble) {
  command("vanish");
  (void)busctl({"call", kService, first_object(), kSandbox, "GetStats"});
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out, "u 1\n");
  const auto gone = busctl({"get-property", kService, first_object(), kSandbox, "State"});
  EXPECT_NE(gone.status, 0);
}

TEST_F(BusApi, ReloadTellsWhatIsWrongAndAnnouncesTheMode) {
  EXPECT_EQ(call({"Reload"}).status, 0);
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "Mode"}).out, "s \"observe\"\n");
  const auto again = call({"Reload"});
  EXPECT_NE(again.status, 0);
  EXPECT_NE(again.err.find("config.toml:3: overhead.default_mib"), std::string::npos) << again.err;
}

TEST_F(BusApi, TheNameBelongsToOne) {
  Server second({KCG_FAKE_DAEMON, bus_.address()});
  const auto said = second.expect("claimed");
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->starts_with("not claimed: ")) << *said;
}

TEST_F(BusApi, TheMemoryOfAListIsReadWhenItIsAskedFor) {
  command("memory 4242");
  EXPECT_NE(call({"ListSandboxes"}).out.find("\"MemoryCurrent\" t 4242 "), std::string::npos);
  command("memory 4343");
  EXPECT_NE(call({"ListSandboxes"}).out.find("\"MemoryCurrent\" t 4343 "), std::string::npos);
}

TEST_F(BusApi, AnIdThatReturnsOnAQuietBusIsNoTrouble) {
  const auto count = [&] {
    return busctl({"get-property", kService, kRoot, kManager, "SandboxCount"}).out;
  };
  const auto objects = [&] {
    return busctl(
               {"call", kService, kRoot, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"})
        .out;
  };
  command("return");
  EXPECT_EQ(count(), "u 2\n");
  command("return");
  command("remove " + std::string(samples::kFirstId));
  const auto left = objects();
  EXPECT_EQ(left.find(first_object()), std::string::npos) << left;
  EXPECT_NE(left.find(samples::kSecondId), std::string::npos) << left;
  command("add " + std::string(samples::kFirstId));
  EXPECT_NE(objects().find(first_object()), std::string::npos);
  EXPECT_EQ(count(), "u 2\n");
  EXPECT_EQ(daemon_->count("problem"), 0U);
}

TEST_F(BusApi, AnIdThatReturnsWhileItIsAskedForIsNoTrouble) {
  command("vanish");
  (void)busctl({"call", kService, first_object(), kSandbox, "GetStats"});
  command("add " + std::string(samples::kFirstId));
  EXPECT_EQ(busctl({"get-property", kService, first_object(), kSandbox, "State"}).status, 0);
  EXPECT_EQ(daemon_->count("problem"), 0U);
}

}  // namespace
}  // namespace kcg::integration
