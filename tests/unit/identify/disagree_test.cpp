// SPDX-License-Identifier: Apache-2.0
#include "identify/disagree.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace kcg {
namespace {

SandboxInputs agreed() {
  SandboxInputs inputs;
  inputs.bundle = Bundle();
  inputs.bundle->directory = "/run/b";
  inputs.bundle->pod = {"default", "web", "uid-1"};
  inputs.bundle->handler = "kata";
  inputs.bundle->cgroups_path = "/kubepods/pod1/abc";
  inputs.node = NodeData();
  inputs.node->pod = inputs.bundle->pod;
  inputs.node->handler = "kata";
  inputs.node->cgroup_parent = "/kubepods/pod1";
  return inputs;
}

TEST(Disagree, WhereBothSayDifferentThings) {
  const struct {
    const char* name;
    std::function<void(SandboxInputs&)> change;
    const char* told;  ///< "": they agree
  } rows[] = {
      {"the same", [](SandboxInputs&) {}, ""},
      {"namespace", [](SandboxInputs& i) { i.node->pod.ns = "x"; }, "pod's namespace"},
      {"name", [](SandboxInputs& i) { i.node->pod.name = "x"; }, "pod's name"},
      {"uid", [](SandboxInputs& i) { i.node->pod.uid = "x"; }, "pod's uid"},
      {"handler", [](SandboxInputs& i) { i.node->handler = "runc"; }, "runtime handler"},
      {"cgroup", [](SandboxInputs& i) { i.node->cgroup_parent = "/kubepods/pod2"; },
       "pod's cgroup"},
      {"a slice",
       [](SandboxInputs& i) {
         i.bundle->cgroups_path = "kubepods-pod1.slice:cri-containerd:abc";
         i.node->cgroup_parent = "/kubepods.slice/kubepods-pod1.slice/";
       },
       ""},
      {"another slice",
       [](SandboxInputs& i) {
         i.bundle->cgroups_path = "kubepods-pod1.slice:cri-containerd:abc";
         i.node->cgroup_parent = "kubepods-pod2.slice";
       },
       "pod's cgroup"},
      {"left out by NRI", [](SandboxInputs& i) { i.node = NodeData(); }, ""},
      {"left out by the bundle", [](SandboxInputs& i) { i.bundle = Bundle(); }, ""},
      {"no bundle", [](SandboxInputs& i) { i.bundle.reset(); }, ""},
      {"no NRI", [](SandboxInputs& i) { i.node.reset(); }, ""},
  };
  for (const auto& row : rows) {
    auto inputs = agreed();
    row.change(inputs);
    const auto condition = node_data_disagreement(inputs);
    EXPECT_EQ(condition.has_value(), *row.told != '\0') << row.name;
    if (!condition) continue;
    EXPECT_EQ(condition->condition, ConditionName::node_data_disagrees) << row.name;
    EXPECT_NE(condition->text.find(row.told), std::string::npos) << condition->text;
  }
}

}  // namespace
}  // namespace kcg
