// SPDX-License-Identifier: Apache-2.0
#include "oci/cgroups_path.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kcg {
namespace {

TEST(CgroupsPath, Forms) {
  const struct {
    const char *name, *text;
    Driver driver;
    const char *pod, *full, *last;
  } rows[] = {
      {"kubelet, cgroupfs", "/kubepods/burstable/podU/S", Driver::cgroupfs,
       "/kubepods/burstable/podU", "/kubepods/burstable/podU/S", "S"},
      {"kubelet, systemd", "kubepods-besteffort-podU.slice:cri-containerd:S", Driver::systemd,
       "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU.slice",
       "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU.slice/"
       "cri-containerd-S.scope",
       "S"},
      {"docker, cgroupfs", "/docker/C", Driver::cgroupfs, "/docker", "/docker/C", "C"},
      {"docker, systemd", "system.slice:docker:C", Driver::systemd, "/system.slice",
       "/system.slice/docker-C.scope", "C"},
      {"root slice", "-.slice:docker:C", Driver::systemd, "/", "/docker-C.scope", "C"},
      {"ctr", "default/C", Driver::cgroupfs, "/vc/default", "/vc/default/C", "C"},
      {"relative, one part", "C", Driver::cgroupfs, "/vc", "/vc/C", "C"},
      {"relative, climbing", "../../C", Driver::cgroupfs, "/vc", "/vc/C", "C"},
      {"empty", "", Driver::cgroupfs, "/vc", "/vc", "vc"},
      {"dot", ".", Driver::cgroupfs, "/vc", "/vc", "vc"},
      {"cleans to nothing", "a/..", Driver::cgroupfs, "/vc", "/vc", "vc"},
      {"climbing above the root", "/../../etc/x", Driver::cgroupfs, "/etc", "/etc/x", "x"},
      {"not clean", "//a/./b//../c/", Driver::cgroupfs, "/a", "/a/c", "c"},
      {"directly below the root", "/x", Driver::cgroupfs, "/", "/x", "x"},
      {"the root itself", "/", Driver::cgroupfs, "/", "/", ""},
      {"two parts are a path", "a.slice:b", Driver::cgroupfs, "/vc", "/vc/a.slice:b", "a.slice:b"},
      {"four parts are a path", "a.slice:b:c:d", Driver::cgroupfs, "/vc", "/vc/a.slice:b:c:d",
       "a.slice:b:c:d"},
      {"three parts without a slice", "a:b:c", Driver::cgroupfs, "/vc", "/vc/a:b:c", "a:b:c"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto path = parse_cgroups_path(row.text);
    ASSERT_TRUE(path) << path.error().text;
    EXPECT_EQ(path->driver, row.driver);
    EXPECT_EQ(path->pod.str(), row.pod);
    EXPECT_EQ(path->full.str(), row.full);
    EXPECT_EQ(path->name, row.last);
  }
}

TEST(CgroupsPath, KeepsTheSystemdParts) {
  const auto path = parse_cgroups_path("a-b.slice:crio:x").value();
  EXPECT_EQ(path.slice, "a-b.slice");
  EXPECT_EQ(path.prefix, "crio");
  const auto plain = parse_cgroups_path("/a/b").value();
  EXPECT_EQ(plain.slice, "");
  EXPECT_EQ(plain.prefix, "");
}

TEST(CgroupsPath, Refuses) {
  const std::string nul("/a\0b/c", 6);
  const struct {
    const char* name;
    std::string text;
    const char* named;
  } rows[] = {
      {"NUL", nul, "contains NUL"},
      {"newline", "/a\nb/c", "contains a newline"},
      {"kernel file", "/a/cgroup.procs/c", "named like a kernel file"},
      {"kernel file as the last part", "/a/memory.max", "named like a kernel file"},
      {"tasks", "/tasks/c", "name of a kernel file"},
      {"component too long", "/" + std::string(256, 'a') + "/c", "longer than 255"},
      {"path too long", "/" + std::string(5000, '/') + "a", "longer than 4095"},
      {"many components",
       [] {
         std::string text;
         for (int i = 0; i < 2000; ++i) text += "/aa";
         return text;
       }(),
       "longer than 4095"},
      {"slash in the slice", "/a.slice:b:c", "must be a name"},
      {"slash in the scope", "a.slice:b/c:d", "contains '/'"},
      {"empty prefix", "a.slice::c", "empty part"},
      {"empty name", "a.slice:b:", "empty part"},
      {"double dash", "a--b.slice:b:c", "empty part between"},
      {"only a suffix", ".slice:b:c", "empty part between"},
      {"scope too long", "a.slice:b:" + std::string(250, 'c'), "longer than 255"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto path = parse_cgroups_path(row.text);
    ASSERT_FALSE(path);
    EXPECT_NE(path.error().text.find(row.named), std::string::npos) << path.error().text;
    EXPECT_EQ(path.error().text.find("cgroupsPath"), 0U) << path.error().text;
  }
}

TEST(ExpandSlice, Expands) {
  EXPECT_EQ(expand_slice("kubepods-burstable-pod1_2.slice")->str(),
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice");
  EXPECT_EQ(expand_slice("a.slice")->str(), "/a.slice");
  EXPECT_EQ(expand_slice("a.b.slice")->str(), "/a.b.slice");
  EXPECT_EQ(expand_slice("-.slice")->str(), "/");
}

TEST(ExpandSlice, Refuses) {
  std::string long_one = "a";
  for (int i = 0; i < 120; ++i) long_one += "-a";
  for (const std::string& bad : std::vector<std::string>{
           "", "a", ".slice", "a-.slice", "-a.slice", "--.slice", "a--b.slice", "a/b.slice",
           "a.scope", "a.slice ", "cpu.slice", "memory-x.slice", "a\n.slice", long_one + ".slice"})
    EXPECT_FALSE(expand_slice(bad)) << bad;
}

}  // namespace
}  // namespace kcg
