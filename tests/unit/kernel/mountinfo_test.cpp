// SPDX-License-Identifier: Apache-2.0
#include "kernel/mountinfo.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Mountinfo, ReadsLines) {
  const struct {
    const char *name, *text;
    Mount mount;
  } rows[] = {
      {"v1, two tags",
       "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 master:2 - cgroup cgroup "
       "rw,cpu,cpuacct\n",
       {"/", "/sys/fs/cgroup/cpu,cpuacct", "cgroup", "cgroup", {"rw", "cpu", "cpuacct"}}},
      {"v2, no tag",
       "30 23 0:26 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n",
       {"/", "/sys/fs/cgroup", "cgroup2", "cgroup2", {"rw", "nsdelegate"}}},
      {"escapes in path, root and source",
       "1 2 0:3 /a\\134b /mnt/with\\040blank\\011tab rw - ext4 /dev/x\\012y rw\n",
       {"/a\\b", "/mnt/with blank\ttab", "ext4", "/dev/x\ny", {"rw"}}},
      {"not an escape",
       "1 2 0:3 / /mnt/a\\9\\04\\400\\08x rw - ext4 none rw\n",
       {"/", "/mnt/a\\9\\04\\400\\08x", "ext4", "none", {"rw"}}},
      {"empty source", "1 2 0:3 / /mnt rw - tmpfs  rw\n", {"/", "/mnt", "tmpfs", "", {"rw"}}},
      {"named hierarchy, no final newline",
       "1 2 0:3 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
       {"/", "/sys/fs/cgroup/systemd", "cgroup", "cgroup", {"rw", "xattr", "name=systemd"}}},
      {"root that is called like the separator",
       "1 2 0:3 / - rw - tmpfs none rw\n",
       {"/", "-", "tmpfs", "none", {"rw"}}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto mounts = parse_mountinfo(row.text);
    ASSERT_TRUE(mounts) << mounts.error().text;
    ASSERT_EQ(mounts->size(), 1U);
    EXPECT_EQ(mounts->front(), row.mount);
  }
}

TEST(Mountinfo, KeepsTheOrder) {
  const auto mounts = parse_mountinfo("1 2 0:3 / /a rw - t s rw\n2 3 0:4 / /b rw - t s rw\n");
  ASSERT_TRUE(mounts);
  ASSERT_EQ(mounts->size(), 2U);
  EXPECT_EQ(mounts->at(0).mount_point, "/a");
  EXPECT_EQ(mounts->at(1).mount_point, "/b");
  EXPECT_TRUE(parse_mountinfo("")->empty());
}

TEST(Mountinfo, ComparesWholeOptions) {
  const Mount mount{"/", "/c", "cgroup", "cgroup", {"rw", "cpuset"}};
  EXPECT_TRUE(mount.has_option("cpuset"));
  EXPECT_FALSE(mount.has_option("cpu"));
}

TEST(Mountinfo, RefusesAndShowsTheLine) {
  const struct {
    const char *name, *text;
  } rows[] = {
      {"empty line", "\n"},
      {"too few fields", "1 2 0:3 / /a rw - t s\n"},
      {"no separator", "1 2 0:3 / /a rw x t s rw\n"},
      {"nothing behind the separator", "1 2 0:3 / /a rw a b c d -\n"},
      {"second line", "1 2 0:3 / /a rw - t s rw\nbad\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_FALSE(parse_mountinfo(row.text));
  }
  EXPECT_NE(parse_mountinfo("bad line\n").error().text.find("'bad line'"), std::string::npos);
}

}  // namespace
}  // namespace kcg
