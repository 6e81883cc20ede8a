// SPDX-License-Identifier: Apache-2.0
//
// Scopes through a stand-in for systemd on a real bus. Client and stand-in share one thread.
#include "daemon/systemd/scopes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>

#include "base/fd.hpp"
#include "integration/private_bus.hpp"
#include "integration/stub_systemd.hpp"
#include "proc/kernel_proc.hpp"
#include "systemd_scopes_fixture.hpp"

namespace kcg::integration {
namespace {

TEST_F(SystemdScopesTest, AsksForExactlyThis) {
  greet();
  ASSERT_TRUE(scopes_->start_scope(
      request({{"memory.max", "8192"}, {"cpu.max", "12345 100000"}, {"cpuset.cpus", "0,8"}})));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  EXPECT_EQ(stub_->calls().at(0), "Subscribe");
  EXPECT_EQ(stub_->calls().back(),
            start_call(fmt::format("('PIDFDs' <ah [process {}]>)", vmm_.pid()),
                       " ('MemoryMax' <t 8192>) ('CPUQuotaPerSecUSec' <t 130000>) "
                       "('CPUQuotaPeriodUSec' <t 100000>) ('AllowedCPUs' <ay [1 1]>)"));
}

TEST_F(SystemdScopesTest, AnOlderSystemdTakesPids) {
  greet(kOldSystemd);
  ask();
  EXPECT_EQ(stub_->calls().back(), start_call(fmt::format("('PIDs' <au [{}]>)", vmm_.pid())));
}

TEST_F(SystemdScopesTest, WhoHasEndedStaysOut) {
  greet();
  auto wanted = request();
  ++wanted.member.start;  // its pid has been used again
  ASSERT_TRUE(scopes_->start_scope(wanted));
  ASSERT_TRUE(told());
  EXPECT_NE(hints_.at(0).problem.find("has ended"), std::string::npos) << hints_.at(0).problem;
  EXPECT_EQ(stub_->waiting(), 0U);
}

TEST_F(SystemdScopesTest, TheJobsEndIsTold) {
  struct Row {
    const char* result;
    const char* problem;
  };
  greet();
  for (const Row& row : {Row{"done", ""}, Row{"failed", "the job ended with 'failed'"},
                         Row{"canceled", "the job ended with 'canceled'"},
                         Row{"dependency", "the job ended with 'dependency'"}}) {
    hints_.clear();
    ask();
    stub_->answer_job("7");
    stub_->job_removed("6", kUnit, "failed");
    stub_->job_removed("7", "other.scope", "failed");
    stub_->job_removed("7", kUnit, row.result);
    ASSERT_TRUE(told()) << row.result;
    EXPECT_EQ(hints_, std::vector{job_hint(row.problem)});
  }
}

TEST_F(SystemdScopesTest, TheJobsEndMayComeBeforeItsName) {
  greet();
  ask();
  stub_->job_removed("6", kUnit, "canceled");
  stub_->job_removed("7", kUnit, "done");
  stub_->answer_job("7");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()});
}

TEST_F(SystemdScopesTest, NobodyElseSpeaksForSystemdOrTheBus) {
  greet();
  ask();
  stub_->answer_job("7");
  // The bus passes such signals on only if they are addressed to somebody.
  const auto pretend = [&](std::vector<std::string> signal) {
    std::vector<std::string> command = {"dbus-send", "--bus=" + bus_.address(), "--type=signal",
                                        "--dest=" + stub_->caller()};
    command.insert(command.end(), signal.begin(), signal.end());
    const auto sent = run(command);
    ASSERT_EQ(sent.status, 0) << sent.err;
  };
  pretend({"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager.JobRemoved", "uint32:7",
           "objpath:" + StubSystemd::job_path("7"), std::string("string:") + kUnit,
           "string:failed"});
  pretend({"/org/freedesktop/DBus", "org.freedesktop.DBus.NameOwnerChanged",
           "string:org.freedesktop.systemd1", "string::1.1", "string:"});
  stub_->job_removed("7", kUnit, "done");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()});
  EXPECT_TRUE(log_.empty());
}

TEST_F(SystemdScopesTest, ARefusalIsToldInItsWords) {
  greet();
  ask();
  stub_->refuse("org.freedesktop.DBus.Error.InvalidArgs", "Slice is not a slice");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_,
            std::vector{job_hint("org.freedesktop.DBus.Error.InvalidArgs: Slice is not a slice")});
}

TEST_F(SystemdScopesTest, SystemdDoesNotAnswer) {
  serve();
  reach(std::chrono::milliseconds(200));
  ask();
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_.at(0).text, kUnit);
  EXPECT_NE(hints_.at(0).problem.find("timed out"), std::string::npos) << hints_.at(0).problem;
  stub_->answer_job("7");
  stub_->job_removed("7", kUnit, "done");
  ASSERT_TRUE(scopes_->start_scope(request()));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; })) << "it may be asked again";
}

// --- systemd or the bus comes and goes ----------------------------------------------------------

TEST_F(SystemdScopesTest, ExecutedAgainWhileAJobIsOpen) {
  greet();
  ask();
  stub_->answer_job("7");
  ASSERT_TRUE(until([&] { return stub_->waiting() == 0; }));
  stub_.reset();
  ASSERT_TRUE(until([&] { return !log_.empty(); }));
  EXPECT_EQ(
      scopes_->start_scope({"kata-sandbox-t.scope", kSlice, request().member, {}}).error().code,
      ENOTCONN);
  EXPECT_TRUE(hints_.empty()) << "nobody knows yet what became of it";
  serve();
  stub_->set_unit(kUnit, {systemd::kDescription, "active"});
  ASSERT_TRUE(until([&] { return hints_.size() == 2; }));
  EXPECT_EQ(hints_.at(0).kind, HintKind::rescan) << "what ended meanwhile was not heard";
  EXPECT_EQ(hints_.at(1), job_hint());
}

TEST_F(SystemdScopesTest, ExecutedAgainBeforeItAnswered) {
  greet();
  ask();
  stub_.reset();
  serve();
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; })) << "it is asked once more";
  EXPECT_EQ(stub_->count("StartTransientUnit"), 1U);
  stub_->answer_job("8");
  stub_->job_removed("8", kUnit, "done");
  ASSERT_TRUE(until([&] { return hints_.size() == 2; }));
  EXPECT_EQ(hints_.at(1), job_hint());
}

/// That it left is heard before the bus answers in its place.
TEST_F(SystemdScopesTest, ExecutedAgainWhileLimitsAreUnderWay) {
  greet();
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"memory.max", "8192"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  stub_.reset();
  ASSERT_TRUE(told()) << "whether they were written is seen in the kernel";
  EXPECT_EQ(hints_, std::vector{job_hint()});
}

TEST_F(SystemdScopesTest, TheBusComesAndGoes) {
  greet();
  ask();
  stub_->answer_job("7");
  ASSERT_TRUE(scopes_->set_limits("kata-sandbox-l.scope", {{"memory.max", "8192"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  bus_.kill();
  ASSERT_TRUE(until([&] { return hints_.size() == 1 && log_.size() == 1; }))
      << "the limits have to be looked at";
  EXPECT_EQ(hints_.at(0), (Hint{HintKind::job, "kata-sandbox-l.scope", 0, ""}));
  EXPECT_EQ(scopes_->start_scope(request()).error().code, ENOTCONN);
  EXPECT_EQ(scopes_->set_limits(kUnit, {}).error().code, ENOTCONN);
  stub_.reset();
  bus_.start();
  serve();
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; })) << "asked what it never did";
  stub_->answer_job("8");
  stub_->job_removed("8", kUnit, "done");
  ASSERT_TRUE(until([&] { return hints_.size() == 3; }));
  EXPECT_EQ(hints_.at(1).kind, HintKind::rescan);
  EXPECT_EQ(hints_.at(2), job_hint());
  EXPECT_EQ(log_.size(), 2U);
}

TEST_F(SystemdScopesTest, ABusWithoutSystemd) {
  reach();
  ASSERT_TRUE(until([&] { return !log_.empty(); }));
  EXPECT_TRUE(log_.at(0).starts_with("systemd's manager is not reached")) << log_.at(0);
  const auto refused = scopes_->start_scope(request());
  EXPECT_EQ(refused.error().code, ENOTCONN);
  EXPECT_NE(refused.error().text.find("[systemd] address"), std::string::npos);
  serve();
  ASSERT_TRUE(until([&] { return stub_->count("Get ") == 1; }));
  ask();
}

TEST_F(SystemdScopesTest, NoBusAtAll) {
  bus_.kill();
  reach();
  EXPECT_EQ(scopes_->start_scope(request()).error().code, ENOTCONN);
  bus_.start();
  serve();
  ASSERT_TRUE(until([&] { return stub_->count("Get ") == 1; }));
  ask();
}

/// Whoever listens there hangs up at once: he is asked less and less often.
TEST_F(SystemdScopesTest, WhatIsNoBusIsTriedLessAndLessOften) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = bus_.directory() + "/none";
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 16), 0);
  unsigned tries = 0;
  const auto heard = loop_->on_fd(listener.get(), EPOLLIN, [&](std::uint32_t) {
    if (Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC))) ++tries;
  });
  ASSERT_TRUE(heard);
  scopes_ = std::make_unique<SystemdScopes>(
      *loop_, *proc_, "unix:path=" + path, [](bool, const std::string&) {},
      std::chrono::seconds(1));
  const auto end = SystemClock().now() + std::chrono::seconds(2);
  ASSERT_TRUE(until([&] { return SystemClock().now() >= end; }));
  EXPECT_GE(tries, 2U);
  EXPECT_LE(tries, 10U) << "20 at an even pace of 100 ms";
}

/// A stopped bus takes what is sent and answers nothing: whoever waited for it would not get here.
TEST_F(SystemdScopesTest, NothingWaitsForTheBus) {
  serve();
  ASSERT_EQ(::kill(bus_.pid(), SIGSTOP), 0);
  reach();
  EXPECT_TRUE(scopes_->start_scope(request()));
  EXPECT_TRUE(scopes_->set_limits("kata-sandbox-l.scope", {{"memory.max", "8192"}}));
  EXPECT_GE(sd_event_run(loop_->get(), 0), 0);
  EXPECT_TRUE(hints_.empty());
  ASSERT_EQ(::kill(bus_.pid(), SIGCONT), 0);
  ASSERT_TRUE(until([&] { return stub_->waiting() == 2; }));
  EXPECT_EQ(stub_->count("SetUnitProperties"), 1U);
  EXPECT_EQ(stub_->count("StartTransientUnit"), 1U);
}

// --- limits -------------------------------------------------------------------------------------

TEST_F(SystemdScopesTest, LimitsAreTheUnitsForItsLife) {
  greet();
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"memory.max", "8192"}}));
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"cpu.weight", "300"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 2; }));
  EXPECT_EQ(stub_->count("SetUnitProperties 'kata-sandbox-s.scope' true [('MemoryMax' <t 8192>)]"),
            1U);
  EXPECT_EQ(stub_->count("SetUnitProperties 'kata-sandbox-s.scope' true [('CPUWeight' <t 300>)]"),
            1U);
  stub_->answer();
  stub_->answer();
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()}) << "one end for all of a unit";
  EXPECT_EQ(stub_->count("Ping"), 2U) << "only then are they in the files";
}

TEST_F(SystemdScopesTest, LimitsEndWithTheLastOfTheirUnit) {
  greet();
  const std::string other = "kata-sandbox-o.scope";
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"memory.max", "8192"}}));
  ASSERT_TRUE(scopes_->set_limits(other, {{"memory.max", "8192"}}));
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"cpu.weight", "300"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 3; }));
  stub_->answer();
  stub_->answer();
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, (std::vector{Hint{HintKind::job, other, 0, ""}}));
  stub_->answer();
  ASSERT_TRUE(until([&] { return hints_.size() == 2; }));
  EXPECT_EQ(hints_.at(1), job_hint());
}

TEST_F(SystemdScopesTest, LimitsOfAScopeThatIsGone) {
  greet();
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"memory.max", "8192"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  stub_->refuse("org.freedesktop.systemd1.NoSuchUnit", "Unit not loaded.");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()}) << "the next look sees that";
}

TEST_F(SystemdScopesTest, RefusedLimits) {
  greet();
  ASSERT_TRUE(scopes_->set_limits(kUnit, {{"memory.max", "8192"}}));
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  stub_->refuse("org.freedesktop.DBus.Error.PropertyReadOnly", "No.");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint("org.freedesktop.DBus.Error.PropertyReadOnly: No.")});
  EXPECT_EQ(scopes_->set_limits(kUnit, {{"memory.memsw.limit_in_bytes", "1"}}).error().code,
            EOPNOTSUPP);
}

}  // namespace
}  // namespace kcg::integration
