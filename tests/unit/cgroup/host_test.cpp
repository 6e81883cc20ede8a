// SPDX-License-Identifier: Apache-2.0
#include "cgroup/host.hpp"

#include <gtest/gtest.h>

#include "cgroup/libcgroup_view.hpp"

namespace kcg::test {

namespace {

using Strings = std::vector<std::string>;

Mount v1(const std::string& mount_point, const Strings& options, const std::string& root = "/") {
  Strings all = {"rw"};
  all.insert(all.end(), options.begin(), options.end());
  return {root, mount_point, "cgroup", "cgroup", all};
}
Mount v2(const std::string& mount_point, const std::string& root = "/") {
  return {root, mount_point, "cgroup2", "cgroup2", {"rw", "nsdelegate"}};
}
Mount other(const std::string& mount_point) { return {"/", mount_point, "tmpfs", "tmpfs", {"rw"}}; }

/// "hybrid: cpu,cpuacct@/sys/fs/cgroup/cpu,cpuacct memory@..." or the error's text.
std::string chosen(const std::vector<Mount>& mounts, const std::string& root,
                   HierarchyChoice choice) {
  const auto host = choose_hierarchies(mounts, root, choice);
  if (!host) return host.error().text;
  std::string text = fmt::format("{}:", name(host->mode));
  for (const auto& hierarchy : host->hierarchies)
    text += fmt::format(" {}@{}", hierarchy.name.str(), hierarchy.mount_point);
  return text;
}

/// Value: mounts and what is made of them.
struct HostCase {
  const char* name;
  std::vector<Mount> mounts;
  std::string root;
  HierarchyChoice choice;
  std::string expected;
};
void PrintTo(const HostCase& row, std::ostream* out) { *out << row.name; }
class Hosts : public ::testing::TestWithParam<HostCase> {};

TEST_P(Hosts, AreReadFromMounts) {
  EXPECT_EQ(chosen(GetParam().mounts, GetParam().root, GetParam().choice), GetParam().expected);
}

constexpr auto kAuto = HierarchyChoice::automatic;
const std::string kRoot = "/sys/fs/cgroup";
const std::vector<Mount> kHybrid = {other(kRoot),
                                    v1("/sys/fs/cgroup/systemd", {"xattr", "name=systemd"}),
                                    v2("/sys/fs/cgroup/unified"),
                                    v1("/sys/fs/cgroup/cpu,cpuacct", {"cpu", "cpuacct"}),
                                    v1("/sys/fs/cgroup/memory", {"memory"}),
                                    v1("/sys/fs/cgroup/devices", {"devices"}),
                                    v1("/sys/fs/cgroup/freezer", {"freezer"}),
                                    v1("/sys/fs/cgroup/net_cls,net_prio", {"net_cls", "net_prio"}),
                                    v1("/sys/fs/cgroup/hugetlb", {"hugetlb"})};

INSTANTIATE_TEST_SUITE_P(
    Rows, Hosts,
    ::testing::Values(
        HostCase{"pure_v2", {v2(kRoot)}, kRoot, kAuto, "v2: v2@/sys/fs/cgroup"},
        HostCase{"hybrid", kHybrid, kRoot, kAuto,
                 "hybrid: cpu,cpuacct@/sys/fs/cgroup/cpu,cpuacct memory@/sys/fs/cgroup/memory "
                 "hugetlb@/sys/fs/cgroup/hugetlb"},
        HostCase{"hybrid_as_v1", kHybrid, kRoot, HierarchyChoice::v1,
                 "hybrid: cpu,cpuacct@/sys/fs/cgroup/cpu,cpuacct memory@/sys/fs/cgroup/memory "
                 "hugetlb@/sys/fs/cgroup/hugetlb"},
        HostCase{"hybrid_as_v2", kHybrid, kRoot, HierarchyChoice::v2,
                 "v2: v2@/sys/fs/cgroup/unified"},
        HostCase{"unified_part_of_hybrid", kHybrid, "/sys/fs/cgroup/unified", kAuto,
                 "v2: v2@/sys/fs/cgroup/unified"},
        HostCase{"one_v1_mount", kHybrid, "/sys/fs/cgroup/memory", kAuto,
                 "v1: memory@/sys/fs/cgroup/memory"},
        HostCase{"pure_v1",
                 {v1("/sys/fs/cgroup/cpu", {"cpu"}), v1("/sys/fs/cgroup/pids", {"pids"})},
                 kRoot,
                 kAuto,
                 "v1: cpu@/sys/fs/cgroup/cpu pids@/sys/fs/cgroup/pids"},
        HostCase{"same_hierarchy_twice",
                 {v1("/sys/fs/cgroup/cpu", {"cpu"}), v1("/sys/fs/cgroup/again", {"cpu"})},
                 kRoot,
                 kAuto,
                 "v1: cpu@/sys/fs/cgroup/cpu"},
        HostCase{
            "with_a_controller_that_is_not_ours",
            {v1("/sys/fs/cgroup/all", {"cpu", "devices"}), v1("/sys/fs/cgroup/pids", {"pids"})},
            kRoot,
            kAuto,
            "v1: pids@/sys/fs/cgroup/pids"},
        HostCase{"mounted_over",
                 {v1("/sys/fs/cgroup/cpu", {"cpu"}), other("/sys/fs/cgroup/cpu"),
                  v1("/sys/fs/cgroup/pids", {"pids"})},
                 kRoot,
                 kAuto,
                 "v1: pids@/sys/fs/cgroup/pids"},
        HostCase{"the_root_file_system_comes_last",
                 {v2(kRoot), {"/", "/", "ext4", "/dev/vda", {"rw"}}},
                 kRoot,
                 kAuto,
                 "v2: v2@/sys/fs/cgroup"},
        HostCase{"elsewhere", {v2("/mnt/cgroup")}, "/mnt/cgroup", kAuto, "v2: v2@/mnt/cgroup"},
        HostCase{"similar_name",
                 {v2("/sys/fs/cgroup2"), v1("/sys/fs/cgroup/cpu", {"cpu"})},
                 kRoot,
                 kAuto,
                 "v1: cpu@/sys/fs/cgroup/cpu"},
        HostCase{"v2_only_below_the_root",
                 {other(kRoot), v2("/sys/fs/cgroup/unified")},
                 kRoot,
                 kAuto,
                 "v2: v2@/sys/fs/cgroup/unified"},
        HostCase{"no_v2_where_asked_for",
                 {v1("/sys/fs/cgroup/cpu", {"cpu"})},
                 kRoot,
                 HierarchyChoice::v2,
                 "no cgroup2 mount at or below '/sys/fs/cgroup', but cgroup.hierarchy is \"v2\""},
        HostCase{"no_v1_where_asked_for",
                 {v2(kRoot)},
                 kRoot,
                 HierarchyChoice::v1,
                 "no cgroup v1 controller that can be managed is mounted below '/sys/fs/cgroup'"},
        HostCase{"nothing",
                 {other(kRoot)},
                 kRoot,
                 kAuto,
                 "no cgroup v1 controller that can be managed is mounted below '/sys/fs/cgroup'"},
        HostCase{"a_part_only",
                 {v2(kRoot, "/docker/x")},
                 kRoot,
                 kAuto,
                 "/sys/fs/cgroup: only '/docker/x' of the hierarchy is mounted there; run in the "
                 "host's cgroup namespace, or set cgroup.root"},
        HostCase{"a_part_of_v1_only",
                 {v1("/sys/fs/cgroup/cpu", {"cpu"}, "/..")},
                 kRoot,
                 kAuto,
                 "/sys/fs/cgroup/cpu: only '/..' of the hierarchy is mounted there; run in the "
                 "host's cgroup namespace, or set cgroup.root"}),
    [](const auto& one) { return std::string(one.param.name); });

/// Value: a kernel's release and what it means.
struct VersionCase {
  const char* name;
  std::string release;
  std::string expected;
};
void PrintTo(const VersionCase& row, std::ostream* out) { *out << row.name; }
class Versions : public ::testing::TestWithParam<VersionCase> {};

TEST_P(Versions, DecideWhatIsPossible) {
  const auto version = parse_kernel_version(GetParam().release);
  Host host;
  const auto status = version ? apply_kernel_version(*version, host) : forward(version.error());
  EXPECT_EQ(status ? (host.kernel_vhost_threads ? "kernel threads" : "threads of the VMM")
                   : status.error().text,
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Versions,
    ::testing::Values(
        VersionCase{"oldest", "5.10.0-8-amd64", "kernel threads"},
        VersionCase{"last_with_kernel_threads", "6.3.13", "kernel threads"},
        VersionCase{"first_without", "6.4-rc1", "threads of the VMM"},
        VersionCase{"two_digits", "6.18.44", "threads of the VMM"},
        VersionCase{"too_old", "5.9.16",
                    "kernel 5.9 is too old: 5.10 or newer is needed (openat2, pidfd, extended "
                    "attributes on cgroups)"},
        VersionCase{"much_too_old", "4.18.0-553.el8.x86_64",
                    "kernel 4.18 is too old: 5.10 or newer is needed (openat2, pidfd, extended "
                    "attributes on cgroups)"},
        VersionCase{"no_minor", "6", "kernel release '6': not a version"},
        VersionCase{"no_number", "linux.6", "kernel release 'linux.6': not a version"},
        VersionCase{"empty", "", "kernel release '': not a version"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Discovery, ReadsTheRunningKernel) {
  Config::Cgroup config;
  config.root = "/nowhere";
  EXPECT_EQ(discover_host(config).error().text,
            "cgroup.root '/nowhere': No such file or directory");
}

TEST(Comparison, NamesEachDifference) {
  Host host;
  host.hierarchies = {{"cpu,cpuacct", {"cpu", "cpuacct"}, false, "/a"},
                      {"memory", {"memory"}, false, "/m"}};
  EXPECT_EQ(compare_mounts(host, {{"cpu", "/a"}, {"cpuacct", "/a"}, {"memory", "/m"}}), Strings{});
  EXPECT_EQ(compare_mounts(host, {{"cpu", "/a"}, {"memory", "/x"}, {"devices", "/d"}}),
            (Strings{"cpuacct: mountinfo has it at /a, libcgroup does not see it",
                     "memory: mountinfo has it at /m, libcgroup at /x"}));
}

}  // namespace

}  // namespace kcg::test
