// SPDX-License-Identifier: Apache-2.0
//
// `plan --bundle`: every form of cgroupsPath, without anything running.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "observe/bundle_plan.hpp"

namespace kcg {
namespace {

namespace fs = std::filesystem;

class BundlePlan : public testing::Test {
 protected:
  BundlePlan() {
    std::string pattern = testing::TempDir() + "bundle-plan-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
  }
  ~BundlePlan() override { fs::remove_all(root_); }

  std::string sandbox(const std::string& cgroups_path, const std::string& annotations = "") {
    return write("S", fmt::format(R"({{"annotations": {{
      "io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "S"{}}},
      "linux": {{"cgroupsPath": "{}"}}}})",
                                  annotations, cgroups_path));
  }
  std::string container(const std::string& cgroups_path) {
    return write("C", fmt::format(R"({{"annotations": {{
      "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "S"}},
      "linux": {{"cgroupsPath": "{}", "resources":
        {{"cpu": {{"quota": 50000, "period": 100000}}, "memory": {{"limit": 536870912}}}}}}}})",
                                  cgroups_path));
  }
  std::string write(const std::string& id, const std::string& json) {
    fs::create_directories(root_ / id);
    std::ofstream(root_ / id / "config.json") << json;
    return root_ / id;
  }
  fs::path root_;
  Config config_;
};

bool has(const Plan& plan, std::string_view op, const std::string& path,
         const std::string& hierarchy, const std::string& key = "", const std::string& value = "") {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
    const auto text = text_of(step);
    return name(step.operation) == op && step.group.path.str() == path &&
           step.group.hierarchy == hierarchy &&
           (key.empty() || (text.key == key && text.new_value == value));
  });
}

struct Row {
  const char* name;
  const char* cgroups_path;
  const char* sandbox_group;
  Form form;
};
class BundleForms : public BundlePlan, public testing::WithParamInterface<Row> {};

TEST_P(BundleForms, RightGroupInTheRightForm) {
  const auto directory = sandbox(GetParam().cgroups_path);
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    const auto planned = plan_bundles(config_, {directory}, mode);
    ASSERT_TRUE(planned) << planned.error().text;
    EXPECT_EQ(planned->id, "S");
    EXPECT_EQ(planned->desired.form, GetParam().form);
    EXPECT_EQ(planned->desired.sandbox_cgroup.str(), GetParam().sandbox_group);
    const auto hierarchy = mode == HierarchyMode::v2 ? "v2" : "cpu";
    EXPECT_TRUE(has(planned->plan, "create", GetParam().sandbox_group, hierarchy));
    EXPECT_TRUE(
        has(planned->plan, "create", GetParam().sandbox_group + std::string("/vcpu"), hierarchy));
    if (mode == HierarchyMode::v1) {
      EXPECT_FALSE(has(planned->plan, "create", GetParam().sandbox_group, "cpuset"))
          << "that tree is Kata's";
    }
  }
}

const Row kRows[] = {
    {"cgroupfs", "/kubepods/burstable/podU/S", "/kubepods/burstable/podU/kata-sandbox-S",
     Form::plain},
    {"systemd", "kubepods-besteffort-podU.slice:cri-containerd:S",
     "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU.slice/"
     "cri-containerd-S.scope/kata-sandbox-S",
     Form::nested},
    {"crio", "kubepods-podU.slice:crio:S",
     "/kubepods.slice/kubepods-podU.slice/crio-S.scope/kata-sandbox-S", Form::nested},
    {"root_slice", "-.slice:x:S", "/x-S.scope/kata-sandbox-S", Form::nested},
    {"relative", "default/S", "/vc/default/kata-sandbox-S", Form::plain},
    {"empty", "", "/vc/kata-sandbox-S", Form::plain},
    {"climbs", "/../../etc/x", "/etc/kata-sandbox-S", Form::plain},
    {"trailing_slash", "/a/b/", "/a/kata-sandbox-S", Form::plain},
    {"two_colons_but_no_slice", "/a:b:c", "/kata-sandbox-S", Form::plain},
};
INSTANTIATE_TEST_SUITE_P(Rows, BundleForms, testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST_F(BundlePlan, KatasLegacyUnderSystemdMakesNoScope) {
  const auto directory = sandbox("kubepods-podU.slice:cri-containerd:S");
  config_.layout.sandbox_cgroup_only = true;
  EXPECT_EQ(plan_bundles(config_, {directory}, HierarchyMode::v2)->desired.form, Form::nested);
}

TEST_F(BundlePlan, LegacyOnV1MakesItsRootToo) {
  const auto directory = sandbox("/kubepods/podU/S");
  config_.layout.sandbox_cgroup_only = false;
  const auto planned = plan_bundles(config_, {directory}, HierarchyMode::v1);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->desired.form, Form::legacy_v1);
  for (const char* path : {"/kata", "/kata/S", "/kubepods/podU/kata_S"}) {
    EXPECT_TRUE(has(planned->plan, "create", path, "cpu")) << path;
    EXPECT_FALSE(has(planned->plan, "create", path, "cpuset")) << path;
  }
}

TEST_F(BundlePlan, ContainersGiveTheLimits) {
  const auto own = sandbox("/kubepods/podU/S",
                           R"(, "io.katacontainers.config.hypervisor.memory_overhead": "350")");
  const auto other = container("/kubepods/podU/C");
  const auto v2 = plan_bundles(config_, {own, other}, HierarchyMode::v2);
  ASSERT_TRUE(v2);
  EXPECT_TRUE(has(v2->plan, "limit", "/kubepods/podU/kata-sandbox-S", "v2", "memory.max",
                  std::to_string((2048ULL + 862) << 20)));
  EXPECT_TRUE(has(v2->plan, "limit", "/kubepods/podU/kata-sandbox-S/vcpu", "v2", "cpu.max",
                  "50000 100000"));
  const auto v1 = plan_bundles(config_, {own, other}, HierarchyMode::v1);
  EXPECT_TRUE(has(v1->plan, "limit", "/kubepods/podU/kata-sandbox-S", "memory",
                  "memory.limit_in_bytes", std::to_string((2048ULL + 862) << 20)));
  EXPECT_TRUE(has(v1->plan, "limit", "/kubepods/podU/kata-sandbox-S/vcpu", "cpu",
                  "cpu.cfs_quota_us", "50000"));
}

TEST_F(BundlePlan, LegacyOnV2IsLimitedBelowItsOwnRoot) {
  config_.layout.sandbox_cgroup_only = false;
  const auto planned = plan_bundles(
      config_, {sandbox("/kubepods/podU/S"), container("/kubepods/podU/C")}, HierarchyMode::v2);
  ASSERT_TRUE(planned);
  EXPECT_TRUE(has(planned->plan, "limit", "/kata/S/vcpu", "v2", "cpu.max", "50000 100000"));
  const auto& steps = planned->plan.steps;
  const auto first = [&](std::string_view op) {
    return std::find_if(steps.begin(), steps.end(), [op](const Step& step) {
      return name(step.operation) == op && step.group.path.str() == "/kata";
    });
  };
  EXPECT_LT(first("create"), first("enable")) << "nothing is enabled in what does not exist";
  EXPECT_NE(first("enable"), steps.end());
  for (const auto& condition : planned->conditions)
    EXPECT_EQ(condition.condition, ConditionName::legacy_emulated_on_v2) << condition.text;
}

TEST_F(BundlePlan, WhatCannotBeUsedIsRefusedWithItsReason) {
  EXPECT_FALSE(plan_bundles(config_, {}, HierarchyMode::v2));
  EXPECT_FALSE(plan_bundles(config_, {root_ / "none"}, HierarchyMode::v2));
  const auto first = plan_bundles(config_, {container("/kubepods/podU/C")}, HierarchyMode::v2);
  ASSERT_FALSE(first);
  EXPECT_NE(first.error().text.find("give the sandbox's bundle first"), std::string::npos);
  EXPECT_FALSE(plan_bundles(config_, {write("B", "{")}, HierarchyMode::v2));
  const auto bad = plan_bundles(config_, {sandbox("a--b.slice:x:S")}, HierarchyMode::v2);
  ASSERT_FALSE(bad) << "an empty plan would look like a good one";
  EXPECT_NE(bad.error().text.find("cannot be placed: "), std::string::npos) << bad.error().text;
  const auto other = plan_bundles(
      config_, {sandbox("/kubepods/podU/S"), container("/kubepods/podX/C")}, HierarchyMode::v2);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text.find("does not belong to it"), std::string::npos);
}

}  // namespace
}  // namespace kcg
