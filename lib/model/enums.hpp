// SPDX-License-Identifier: Apache-2.0
//
// The small closed sets of the product and their names as users see them (L1). Each has
// `name(value)`; the ones that are read back have `parse_<set>(text)`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kcg {

enum class HierarchyMode : std::uint8_t { v1, v2, hybrid };
enum class Layout : std::uint8_t { sandbox_only, legacy };
enum class LayoutSource : std::uint8_t {
  registration,
  config,
  kata_state,
  annotation,
  kata_config,
  default_value
};
/// Which component makes the pod's groups: plain directories, or systemd's scopes.
enum class Driver : std::uint8_t { cgroupfs, systemd };
/// Where the sandbox group stands (layouts: "sandbox only" has three forms, "legacy" two).
enum class Form : std::uint8_t {
  plain,      ///< <pod>/kata-sandbox-<id>, mkdir
  nested,     ///< <Kata's own scope>/kata-sandbox-<id>, mkdir in a delegated scope
  own_scope,  ///< <pod>/kata-sandbox-<id>.scope, StartTransientUnit
  legacy_v1,  ///< constrained + unconstrained groups on v1
  legacy_v2,  ///< /kata/<id> domain with class groups
};
enum class ThreadClass : std::uint8_t { vcpu, io, vmm, shim };
inline constexpr std::array<ThreadClass, 4> kThreadClasses = {ThreadClass::vcpu, ThreadClass::io,
                                                              ThreadClass::vmm, ThreadClass::shim};
/// How a thread's class was found.
enum class ClassSource : std::uint8_t { kvm, syscall, guest_time, signals, name, role, fallback };
enum class GroupRole : std::uint8_t { sandbox, vcpu, io, vmm, shim, constrained, unconstrained };
enum class GroupType : std::uint8_t { domain, threaded, v1 };
enum class Engine : std::uint8_t { containerd, crio, none };
enum class ProcessRole : std::uint8_t { shim, vmm, virtiofsd, descendant, kernel_worker };
enum class Hypervisor : std::uint8_t {
  unknown,
  qemu,
  stratovirt,
  cloud_hypervisor,
  openvmm,
  firecracker,
  dragonball,
  remote
};
enum class OverheadSource : std::uint8_t { annotation, pod, handler, default_value };
enum class Severity : std::uint8_t { info, warning, error };
enum class SandboxState : std::uint8_t { discovered, placed, degraded, unmanaged, removing };

[[nodiscard]] std::string_view name(HierarchyMode value);
[[nodiscard]] std::string_view name(Layout value);
[[nodiscard]] std::string_view name(LayoutSource value);
[[nodiscard]] std::string_view name(Driver value);
[[nodiscard]] std::string_view name(ThreadClass value);
[[nodiscard]] std::string_view name(ClassSource value);
[[nodiscard]] std::string_view name(GroupRole value);
[[nodiscard]] std::string_view name(GroupType value);
[[nodiscard]] std::string_view name(Engine value);
[[nodiscard]] std::string_view name(ProcessRole value);
[[nodiscard]] std::string_view name(Hypervisor value);
[[nodiscard]] std::string_view name(OverheadSource value);
[[nodiscard]] std::string_view name(Severity value);
[[nodiscard]] std::string_view name(SandboxState value);

/// Class of the process as a whole, where its main thread goes by default.
[[nodiscard]] ThreadClass default_class(ProcessRole role);

/// A VMM, or a shim with one inside.
[[nodiscard]] bool runs_vm(ProcessRole role, Hypervisor hypervisor);

/// The role of the group that holds the threads of a class, and back; nullopt: one of no class.
[[nodiscard]] GroupRole role_of(ThreadClass cls);
[[nodiscard]] std::optional<ThreadClass> class_of(GroupRole role);
[[nodiscard]] std::optional<ThreadClass> parse_thread_class(std::string_view text);
[[nodiscard]] std::optional<HierarchyMode> parse_hierarchy_mode(std::string_view text);

}  // namespace kcg
