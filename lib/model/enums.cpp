// SPDX-License-Identifier: Apache-2.0
#include "model/enums.hpp"

#include <array>
#include <cstddef>

namespace kcg {

namespace {

template <class Enum, std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

constexpr std::array<std::string_view, 3> kModes = {"v1", "v2", "hybrid"};
constexpr std::array<std::string_view, 2> kLayouts = {"sandbox-only", "legacy"};
constexpr std::array<std::string_view, 6> kLayoutSources = {
    "registration", "config", "kata-state", "annotation", "kata-config", "default"};
constexpr std::array<std::string_view, 2> kDrivers = {"cgroupfs", "systemd"};
constexpr std::array<std::string_view, 4> kClasses = {"vcpu", "io", "vmm", "shim"};
constexpr std::array<std::string_view, 7> kClassSources = {
    "kvm", "syscall", "guest-time", "signals", "name", "role", "fallback"};
constexpr std::array<std::string_view, 7> kRoles = {"sandbox", "vcpu",        "io",           "vmm",
                                                    "shim",    "constrained", "unconstrained"};
constexpr std::array<std::string_view, 3> kTypes = {"domain", "threaded", "v1"};
constexpr std::array<std::string_view, 3> kEngines = {"containerd", "cri-o", "none"};
constexpr std::array<std::string_view, 5> kProcessRoles = {"shim", "vmm", "virtiofsd", "descendant",
                                                           "kernel-worker"};
constexpr std::array<std::string_view, 8> kHypervisors = {
    "", "qemu", "stratovirt", "cloud-hypervisor", "openvmm", "firecracker", "dragonball", "remote"};
constexpr std::array<std::string_view, 4> kOverheadSources = {"annotation", "pod", "handler",
                                                              "default"};
constexpr std::array<std::string_view, 3> kSeverities = {"info", "warning", "error"};
constexpr std::array<std::string_view, 5> kStates = {"discovered", "placed", "degraded",
                                                     "unmanaged", "removing"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names.at(i) == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name(HierarchyMode value) { return at(kModes, value); }
std::string_view name(Layout value) { return at(kLayouts, value); }
std::string_view name(LayoutSource value) { return at(kLayoutSources, value); }
std::string_view name(Driver value) { return at(kDrivers, value); }
std::string_view name(ThreadClass value) { return at(kClasses, value); }
std::string_view name(ClassSource value) { return at(kClassSources, value); }
std::string_view name(GroupRole value) { return at(kRoles, value); }
std::string_view name(GroupType value) { return at(kTypes, value); }
std::string_view name(Engine value) { return at(kEngines, value); }
std::string_view name(ProcessRole value) { return at(kProcessRoles, value); }
std::string_view name(Hypervisor value) { return at(kHypervisors, value); }
std::string_view name(OverheadSource value) { return at(kOverheadSources, value); }
std::string_view name(Severity value) { return at(kSeverities, value); }
std::string_view name(SandboxState value) { return at(kStates, value); }

std::optional<ThreadClass> parse_thread_class(std::string_view text) {
  return find<ThreadClass>(kClasses, text);
}

std::optional<HierarchyMode> parse_hierarchy_mode(std::string_view text) {
  return find<HierarchyMode>(kModes, text);
}

bool runs_vm(ProcessRole role, Hypervisor hypervisor) {
  return role == ProcessRole::vmm || hypervisor == Hypervisor::dragonball;
}

ThreadClass default_class(ProcessRole role) {
  switch (role) {
    case ProcessRole::shim:
      return ThreadClass::shim;
    case ProcessRole::virtiofsd:
      return ThreadClass::io;
    case ProcessRole::vmm:
    case ProcessRole::descendant:
    case ProcessRole::kernel_worker:
      break;
  }
  return ThreadClass::vmm;
}

GroupRole role_of(ThreadClass cls) {
  switch (cls) {
    case ThreadClass::vcpu:
      return GroupRole::vcpu;
    case ThreadClass::io:
      return GroupRole::io;
    case ThreadClass::vmm:
      return GroupRole::vmm;
    case ThreadClass::shim:
      return GroupRole::shim;
  }
  return GroupRole::vmm;
}

std::optional<ThreadClass> class_of(GroupRole role) {
  for (const auto cls : kThreadClasses)
    if (role_of(cls) == role) return cls;
  return std::nullopt;
}

}  // namespace kcg
