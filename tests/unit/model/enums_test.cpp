// SPDX-License-Identifier: Apache-2.0
//
// The names are what users, programs and the documents' schemas see: each set is pinned whole.
#include "model/enums.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kcg {
namespace {

using Names = std::vector<std::string_view>;

template <class Enum>
Names names_up_to(Enum last) {
  Names names;
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
    names.push_back(name(static_cast<Enum>(i)));
  return names;
}

TEST(Enums, Names) {
  EXPECT_EQ(names_up_to(HierarchyMode::hybrid), (Names{"v1", "v2", "hybrid"}));
  EXPECT_EQ(names_up_to(Layout::legacy), (Names{"sandbox-only", "legacy"}));
  EXPECT_EQ(
      names_up_to(LayoutSource::default_value),
      (Names{"registration", "config", "kata-state", "annotation", "kata-config", "default"}));
  EXPECT_EQ(names_up_to(Driver::systemd), (Names{"cgroupfs", "systemd"}));
  EXPECT_EQ(names_up_to(ThreadClass::shim), (Names{"vcpu", "io", "vmm", "shim"}));
  EXPECT_EQ(names_up_to(ClassSource::fallback),
            (Names{"kvm", "syscall", "guest-time", "signals", "name", "role", "fallback"}));
  EXPECT_EQ(names_up_to(GroupRole::unconstrained),
            (Names{"sandbox", "vcpu", "io", "vmm", "shim", "constrained", "unconstrained"}));
  EXPECT_EQ(names_up_to(GroupType::v1), (Names{"domain", "threaded", "v1"}));
  EXPECT_EQ(names_up_to(Engine::none), (Names{"containerd", "cri-o", "none"}));
  EXPECT_EQ(names_up_to(ProcessRole::kernel_worker),
            (Names{"shim", "vmm", "virtiofsd", "descendant", "kernel-worker"}));
  EXPECT_EQ(names_up_to(Hypervisor::remote),
            (Names{"", "qemu", "stratovirt", "cloud-hypervisor", "openvmm", "firecracker",
                   "dragonball", "remote"}));
  EXPECT_EQ(names_up_to(OverheadSource::default_value),
            (Names{"annotation", "pod", "handler", "default"}));
  EXPECT_EQ(names_up_to(Severity::error), (Names{"info", "warning", "error"}));
  EXPECT_EQ(names_up_to(SandboxState::removing),
            (Names{"discovered", "placed", "degraded", "unmanaged", "removing"}));
}

TEST(Enums, ReadBack) {
  for (const auto cls : {ThreadClass::vcpu, ThreadClass::io, ThreadClass::vmm, ThreadClass::shim})
    EXPECT_EQ(parse_thread_class(name(cls)), cls);
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2, HierarchyMode::hybrid})
    EXPECT_EQ(parse_hierarchy_mode(name(mode)), mode);
  for (const char* bad : {"", "VCPU", "vcpu ", "v", "v3"}) {
    EXPECT_EQ(parse_thread_class(bad), std::nullopt) << bad;
    EXPECT_EQ(parse_hierarchy_mode(bad), std::nullopt) << bad;
  }
}

TEST(Enums, ClassOfAProcessAsAWhole) {
  EXPECT_EQ(default_class(ProcessRole::shim), ThreadClass::shim);
  EXPECT_EQ(default_class(ProcessRole::vmm), ThreadClass::vmm);
  EXPECT_EQ(default_class(ProcessRole::virtiofsd), ThreadClass::io);
  EXPECT_EQ(default_class(ProcessRole::descendant), ThreadClass::vmm);
  EXPECT_EQ(default_class(ProcessRole::kernel_worker), ThreadClass::vmm);
}

TEST(Enums, EachClassHasItsGroup) {
  for (const auto cls : kThreadClasses) {
    EXPECT_EQ(name(role_of(cls)), name(cls));
    EXPECT_EQ(class_of(role_of(cls)), cls);
  }
  EXPECT_EQ(class_of(GroupRole::sandbox), std::nullopt);
}

}  // namespace
}  // namespace kcg
