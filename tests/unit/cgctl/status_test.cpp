// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/status.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "show/view_documents.hpp"
#include "support/sample_views.hpp"

namespace kcg::cgctl {
namespace {

DaemonState healthy() {
  DaemonState daemon;
  daemon.running = true;
  daemon.version = "9.9";
  daemon.mode = "enforce";
  daemon.hierarchy = "v2";
  return daemon;
}

Options short_one() {
  Options options;
  options.brief = true;
  return options;
}

TEST(Status, ExitStatus) {
  auto observing = healthy();
  observing.mode = "observe";
  auto troubled = healthy();
  troubled.problems = {"process events: none"};
  DaemonState dead;
  dead.why_not = "nobody owns it";
  DaemonState not_asked;
  not_asked.asked = false;
  const auto good = samples::legacy();
  const auto bad = samples::degraded();
  const struct {
    const char* name;
    DaemonState daemon;
    std::vector<SandboxView> views;
    Exit exit;
  } rows[] = {
      {"all is well", healthy(), {good}, Exit::good},
      {"no sandbox", healthy(), {}, Exit::good},
      {"degraded", healthy(), {good, bad}, Exit::something_wrong},
      {"a problem of the daemon", troubled, {good}, Exit::something_wrong},
      {"observing is no fault", observing, {good}, Exit::good},
      {"dead", dead, {good}, Exit::no_daemon},
      {"dead, and degraded", dead, {bad}, Exit::no_daemon},
      {"not asked", not_asked, {good}, Exit::good},
      {"not asked, and degraded", not_asked, {bad}, Exit::something_wrong},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(status_answer({}, {}, row.daemon, row.views).exit, row.exit) << row.name;
    EXPECT_EQ(status_answer(short_one(), {}, row.daemon, row.views).exit, row.exit) << row.name;
  }
}

TEST(Status, ShortForm) {
  EXPECT_EQ(status_answer(short_one(), {}, healthy(), {samples::legacy()}).out,
            "kata-cgroupd 9.9: enforcing\n"
            "1 sandbox, nothing is wrong with it.\n"
            "  next: cgctl list | cgctl show POD | cgctl status | cgctl --help\n");
}

TEST(Status, LongForm) {
  auto daemon = healthy();
  daemon.problems = {"process events: proc connector: refused"};
  daemon.parts = {{"bundles", "working"}, {"bus", "working"}, {"process events", "fallback"}};
  daemon.placements = PlacementTimes{1, 900, 1'250'000};
  daemon.process = DaemonProcess{77, 3 * 86400 + 7200, 4'510'000, 12ULL << 20};
  EXPECT_EQ(status_answer({}, {}, daemon, {samples::degraded(), samples::legacy()}).out,
            "kata-cgroupd 9.9: enforcing, up 3d2h\n"
            "  ! process events: proc connector: refused\n"
            "  sandboxes  1 degraded, 1 placed\n"
            "  placed     1 vCPU thread since the start, half of them within 0.9 ms, 99 of 100 "
            "within 1.2 s\n"
            "  parts      bundles, bus working; process events: fallback\n"
            "  cgroups    v2\n"
            "  itself     12 MiB, 4.51s of CPU time, pid 77\n"
            "2 sandboxes, 1 needs a look: cgctl list --failing\n"
            "The daemon itself needs a look: cgctl doctor\n");
}

TEST(Status, ObserveAndDeathStandOut) {
  auto daemon = healthy();
  daemon.mode = "observe";
  EXPECT_TRUE(status_answer({}, {}, daemon, {})
                  .out.starts_with("kata-cgroupd 9.9: OBSERVING, nothing is written\n"));
  DaemonState dead;
  dead.why_not = "nobody owns it";
  EXPECT_TRUE(status_answer({}, {}, dead, {})
                  .out.starts_with("kata-cgroupd does not run or answer\n  nobody owns it\n"));
}

TEST(WithDaemon, StandsBehindTheVersion) {
  EXPECT_TRUE(with_daemon(list_document({}), healthy())
                  .starts_with("{\n  \"version\": 1,\n  \"daemon\": {\n"
                               "    \"running\": true,\n    \"mode\": \"enforce\","));
  DaemonState dead;
  EXPECT_NE(with_daemon(list_document({}), dead).find("\"running\": false"), std::string::npos);
  dead.asked = false;
  EXPECT_EQ(with_daemon(list_document({}), dead), list_document({}));
}

TEST(DaemonProcess, IsReadFromProc) {
  const auto self = daemon_process(getpid());
  ASSERT_TRUE(self);
  EXPECT_GT(self->memory_bytes, 0U);
  EXPECT_GE(self->up_seconds, 0);
  EXPECT_FALSE(daemon_process(0));
}

TEST(Status, AListSaysInWordsHowTheDaemonIs) {
  DaemonState state;
  EXPECT_EQ(daemon_words(state), "no daemon runs or answers");
  state.running = true;
  state.mode = "enforce";
  EXPECT_EQ(daemon_words(state), "daemon running, enforcing");
  state.mode = "observe";
  EXPECT_EQ(daemon_words(state), "daemon running, observing");
  state.asked = false;
  EXPECT_EQ(daemon_words(state), "");
}

}  // namespace
}  // namespace kcg::cgctl
