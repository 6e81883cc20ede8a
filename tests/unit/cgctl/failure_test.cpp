// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/failure.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/bus/names.hpp"

namespace kcg::cgctl {
namespace {

TEST(Failure, EveryErrorOfTheBusHasANameAndAStatus) {
  const struct {
    const char* bus_name;
    const char* name;
    Exit exit;
  } rows[] = {
      {"io.katacontainers.CgroupManager1.Error.NoSuchSandbox", "NoSuchSandbox",
       Exit::no_such_sandbox},
      {"io.katacontainers.CgroupManager1.Error.AmbiguousId", "AmbiguousId", Exit::usage},
      {"io.katacontainers.CgroupManager1.Error.InvalidArgument", "InvalidArgument", Exit::usage},
      {"io.katacontainers.CgroupManager1.Error.NotPermitted", "NotPermitted", Exit::failed},
      {"io.katacontainers.CgroupManager1.Error.LimitReached", "LimitReached", Exit::failed},
      {"io.katacontainers.CgroupManager1.Error.ObserveOnly", "ObserveOnly", Exit::failed},
      {"io.katacontainers.CgroupManager1.Error.Kernel", "Kernel", Exit::failed},
      {"io.katacontainers.CgroupManager1.Error.Config", "Config", Exit::failed},
      {"io.katacontainers.CgroupManager1.Error.SomethingNew", "Failed", Exit::failed},
      {"org.freedesktop.DBus.Error.AccessDenied", "NotPermitted", Exit::failed},
      {"org.freedesktop.DBus.Error.ServiceUnknown", "NotReachable", Exit::no_daemon},
      {"org.freedesktop.DBus.Error.NoReply", "NotReachable", Exit::no_daemon},
      {"org.freedesktop.DBus.Error.UnknownObject", "NoSuchSandbox", Exit::no_such_sandbox},
      {"org.freedesktop.DBus.Error.InvalidArgs", "Failed", Exit::failed},
      {"System.Error.E2BIG", "Failed", Exit::failed},
  };
  for (const auto& row : rows) {
    const auto error = error_from_bus(row.bus_name, "text");
    EXPECT_EQ(failure_name(error), row.name) << row.bus_name;
    EXPECT_EQ(failure_exit(error), row.exit) << row.bus_name;
    EXPECT_NE(error.text.find("text"), std::string::npos) << row.bus_name;
  }
}

TEST(Failure, AnErrnoIsTheKernels) {
  EXPECT_EQ(failure_name({ENOSPC, "x"}), "Kernel");
  EXPECT_EQ(failure_name({0, "x"}), "Failed");
  EXPECT_EQ(failure_exit({ENOSPC, "x"}), Exit::failed);
}

TEST(FailureText, ForPeople) {
  EXPECT_EQ(failure_text({0, "no\x1b[1m way"}, false, ""), "cgctl: no\\x1b[1m way\n");
  EXPECT_EQ(failure_text({0, "b"}, false, "a"), "cgctl: a\ncgctl: b\n");
}

TEST(FailureText, JsonIsOneDocument) {
  EXPECT_EQ(failure_text({0, "b\xff"}, true, "a"),
            "{\"version\":1,\"error\":{\"name\":\"Failed\",\"message\":\"b\xef\xbf\xbd\"},"
            "\"note\":\"a\"}\n");
  EXPECT_EQ(failure_text({0, "b"}, true, ""),
            "{\"version\":1,\"error\":{\"name\":\"Failed\",\"message\":\"b\"}}\n");
}

TEST(NoteText, SaysNothingWithoutANote) {
  EXPECT_EQ(note_text(false, ""), "");
  EXPECT_EQ(note_text(true, ""), "");
  EXPECT_EQ(note_text(false, "a"), "cgctl: a\n");
  EXPECT_EQ(note_text(true, "a"), "{\"version\":1,\"note\":\"a\"}\n");
}

}  // namespace
}  // namespace kcg::cgctl
