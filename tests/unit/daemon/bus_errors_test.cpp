// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/errors.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/bus/names.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {
namespace {

TEST(ErrorName, EachCodeHasItsName) {
  const struct {
    int code;
    const char* name;
  } rows[] = {{static_cast<int>(ManagerError::no_such_sandbox), "NoSuchSandbox"},
              {static_cast<int>(ManagerError::ambiguous_id), "AmbiguousId"},
              {static_cast<int>(ManagerError::invalid_argument), "InvalidArgument"},
              {static_cast<int>(ManagerError::limit_reached), "LimitReached"},
              {static_cast<int>(ManagerError::observe_only), "ObserveOnly"},
              {static_cast<int>(ManagerError::config), "Config"},
              {ENOSPC, "Kernel"},
              {0, "InvalidArgument"}};
  for (const auto& row : rows)
    EXPECT_EQ(error_name({row.code, "x"}),
              std::string("io.katacontainers.CgroupManager1.Error.") + row.name);
}

TEST(BusError, ItsTextIsFitForTheBus) {
  EXPECT_EQ(bus_error({0, "a\xff"}).getMessage(), "a\xef\xbf\xbd");
  const auto shown = bus_error({0, "a\x1b[31mb\u202ec"}).getMessage();
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << "no terminal obeys it";
  EXPECT_EQ(shown.find("\u202e"), std::string::npos);
}

TEST(RequireRoot, NobodyElse) {
  EXPECT_NO_THROW(require_root(0, "Reload"));
  try {
    require_root(1000, "Reload");
    FAIL();
  } catch (const sdbus::Error& error) {
    EXPECT_EQ(error.getName(), "io.katacontainers.CgroupManager1.Error.NotPermitted");
    EXPECT_EQ(error.getMessage(), "Reload is for root only, and uid 1000 called it");
  }
}

TEST(SandboxPath, IsEscaped) {
  EXPECT_EQ(sandbox_path("abc1"), "/io/katacontainers/CgroupManager1/sandbox/abc1");
  EXPECT_EQ(sandbox_path("1-a.b"), "/io/katacontainers/CgroupManager1/sandbox/_31_2da_2eb");
}

}  // namespace
}  // namespace kcg::bus
