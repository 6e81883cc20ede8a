// SPDX-License-Identifier: Apache-2.0
#include "cgroup/libcgroup_view.hpp"

#include <gtest/gtest.h>
#include <libcgroup.h>
#include <sys/wait.h>

#include <cerrno>

namespace kcg {
namespace {

TEST(LibcgroupMounts, AreAskedForInAProcessOfItsOwn) {
  const auto mounts = libcgroup_mounts();
  if (!mounts) {
    EXPECT_TRUE(mounts.error().text.starts_with("libcgroup: ")) << mounts.error().text;
  } else {
    EXPECT_FALSE(mounts->contains(""));
    for (const auto& [controller, path] : *mounts) EXPECT_EQ(path.substr(0, 1), "/") << controller;
  }
  void* handle = nullptr;
  cgroup_mount_point entry{};
  EXPECT_EQ(cgroup_get_controller_begin(&handle, &entry), ECGROUPNOTINITIALIZED)
      << "its tables are in this process";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace kcg
