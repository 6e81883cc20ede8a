// SPDX-License-Identifier: Apache-2.0
//
// Layout: directories, ours and Kata's.
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include "unit/layout/layout_rows.hpp"

namespace kcg::test {
namespace {

struct PathRow {
  const char* name;
  const char* cgroups_path;
  Form form;
  const char* sandbox;
  const char* overhead;  ///< "" = none
};

class Paths : public testing::TestWithParam<PathRow> {};

TEST_P(Paths, OfEachForm) {
  const auto& row = GetParam();
  const auto paths =
      layout_paths(Config{}, id_of("S"), path_of(row.cgroups_path), row.form).value();
  EXPECT_EQ(paths.sandbox.str(), row.sandbox);
  EXPECT_EQ(paths.overhead ? paths.overhead->str() : "", row.overhead);
}

constexpr const char* kSlicePath = "kubepods-burstable-podU.slice:cri-containerd:S";
#define SLICE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice"

const PathRow kPaths[] = {
    {"cgroupfs", "/kubepods/burstable/podU/S", Form::plain,
     "/kubepods/burstable/podU/kata-sandbox-S", ""},
    {"docker_cgroupfs", "/docker/S", Form::plain, "/docker/kata-sandbox-S", ""},
    {"ctr", "default/S", Form::plain, "/vc/default/kata-sandbox-S", ""},
    {"empty", "", Form::plain, "/vc/kata-sandbox-S", ""},
    {"dot", ".", Form::plain, "/vc/kata-sandbox-S", ""},
    {"climbs_to_the_root_only", "/../../etc/x", Form::plain, "/etc/kata-sandbox-S", ""},
    {"nested", kSlicePath, Form::nested, SLICE "/cri-containerd-S.scope/kata-sandbox-S", ""},
    {"nested_crio", "kubepods-burstable-podU.slice:crio:S", Form::nested,
     SLICE "/crio-S.scope/kata-sandbox-S", ""},
    {"own_scope", kSlicePath, Form::own_scope, SLICE "/kata-sandbox-S.scope", ""},
    {"docker_own_scope", "system.slice:docker:S", Form::own_scope,
     "/system.slice/kata-sandbox-S.scope", ""},
    {"scope_in_the_root_slice", "-.slice:docker:S", Form::own_scope, "/kata-sandbox-S.scope", ""},
    {"legacy_v1_cgroupfs", "/kubepods/burstable/podU/S", Form::legacy_v1,
     "/kubepods/burstable/podU/kata_S", "/kata/S"},
    {"legacy_v1_crio", "/kubepods/burstable/podU/crio-S", Form::legacy_v1,
     "/kubepods/burstable/podU/kata_crio-S", "/kata/S"},
    {"legacy_v1_systemd", kSlicePath, Form::legacy_v1, SLICE "/kata_cri-containerd-S", "/kata/S"},
    {"legacy_v1_has_its_own_group_without_a_path", "", Form::legacy_v1, "/vc/kata_S", "/kata/S"},
    {"legacy_v2_cgroupfs", "/kubepods/burstable/podU/S", Form::legacy_v2, "/kata/S", ""},
    {"legacy_v2_systemd", kSlicePath, Form::legacy_v2, "/kata.slice/kata-S.scope", ""},
};

INSTANTIATE_TEST_SUITE_P(Layout, Paths, testing::ValuesIn(kPaths), row_name<PathRow>);

TEST(Layout, LegacyRootIsConfigurable) {
  Config config;
  config.layout.legacy_root = "/kata_overhead";
  const auto paths = layout_paths(config, id_of("S"), path_of("/p/S"), Form::legacy_v1).value();
  EXPECT_EQ(paths.overhead->str(), "/kata_overhead/S");
}

TEST(Layout, ClassGroupsHaveToFitAsWell) {
  std::string deep;
  while (deep.size() < 4090) deep += "/abcdefghi";
  const auto top = deep.substr(0, 4092 - std::string("/kata-sandbox-S").size());
  EXPECT_TRUE(CgroupPath::parse(top + "/kata-sandbox-S"));
  EXPECT_FALSE(layout_paths(Config{}, id_of("S"), path_of(top + "/S"), Form::plain));
}

TEST(Layout, AnIdThatIsNamedLikeAKernelFileHasNoLegacyGroup) {
  EXPECT_TRUE(layout_paths(Config{}, id_of("cpu.x"), path_of("/p/S"), Form::plain));
  EXPECT_FALSE(layout_paths(Config{}, id_of("cpu.x"), path_of("/p/S"), Form::legacy_v2));
}

struct KataRow {
  const char* name;
  const char* cgroups_path;
  std::vector<std::string> paths;
};
class KataPaths : public testing::TestWithParam<KataRow> {};

TEST_P(KataPaths, AreKnown) {
  std::vector<std::string> found;
  for (const auto& path : kata_paths(id_of("S"), path_of(GetParam().cgroups_path)))
    found.emplace_back(path.str());
  EXPECT_EQ(found, GetParam().paths);
}

const KataRow kKataPaths[] = {
    {"cgroupfs", "/kubepods/podU/S", {"/kubepods/podU/kata_S", "/kata_overhead/S"}},
    {"crio", "/kubepods/podU/crio-S", {"/kubepods/podU/kata_crio-S", "/kata_overhead/S"}},
    {"docker", "/docker/S", {"/docker/kata_S", "/kata_overhead/S"}},
    {"ctr", "default/S", {"/vc/default/kata_S", "/kata_overhead/S"}},
    {"without_a_path", "", {"/kata_vc", "/kata_overhead/S"}},
    {"systemd",
     kSlicePath,
     {SLICE "/cri-containerd-S.scope", "/kubepods-burstable-podU.slice:cri-containerd:S",
      "/kata_overhead/S"}},
};
INSTANTIATE_TEST_SUITE_P(Layout, KataPaths, testing::ValuesIn(kKataPaths), row_name<KataRow>);

TEST(Layout, CandidatesAreAllThatADaemonStartedAgainMustLookAt) {
  const auto names = [](const std::string& text) {
    std::vector<std::string> found;
    for (const auto& [form, path] : candidate_paths(Config{}, id_of("S"), path_of(text)))
      found.emplace_back(path.str());
    return found;
  };
  EXPECT_EQ(names("/p/S"), (std::vector<std::string>{"/p/kata-sandbox-S", "/kata/S", "/kata/S"}));
  EXPECT_EQ(names("a.slice:x:S"),
            (std::vector<std::string>{"/a.slice/x-S.scope/kata-sandbox-S",
                                      "/a.slice/kata-sandbox-S.scope", "/kata/S",
                                      "/kata.slice/kata-S.scope"}));
}

TEST(Layout, ClassGroupsAreNamedAfterTheirClass) {
  const auto top = CgroupPath::parse("/p/kata-sandbox-S").value();
  EXPECT_EQ(class_path(top, ThreadClass::vcpu).str(), "/p/kata-sandbox-S/vcpu");
  EXPECT_EQ(class_path(top, ThreadClass::io).str(), "/p/kata-sandbox-S/io");
  EXPECT_EQ(class_path(top, ThreadClass::vmm).str(), "/p/kata-sandbox-S/vmm");
  EXPECT_EQ(class_path(top, ThreadClass::shim).str(), "/p/kata-sandbox-S/shim");
}

}  // namespace
}  // namespace kcg::test
