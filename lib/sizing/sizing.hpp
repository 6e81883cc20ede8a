// SPDX-License-Identifier: Apache-2.0
//
// Which limit, from which inputs (L3): (containers, history, overhead, parent, policy) -> limits,
// conditions and their derivation. See docs/sizing.md. No I/O, no order of writes (that is diff's).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: what sizing needs to know about the world above the sandbox. Absent = not known.
struct SizingParent {
  std::optional<std::uint64_t> smallest_memory_max;  ///< among the ancestors; absent: unlimited
  std::string smallest_memory_group;                 ///< which ancestor that is
  std::optional<std::uint64_t> smallest_quota_us;    ///< v1: per 100 ms, among the ancestors
  std::string smallest_quota_group;                  ///< which ancestor that is
  std::string pod_group;                             ///< the parent, whose weight is pod_weight
  std::optional<std::uint64_t> pod_shares;           ///< sum the kubelet converted, if known
  std::optional<std::uint64_t> pod_weight;           ///< v2: cpu.weight of the pod cgroup
};

/// Value: what sizing is asked about.
struct SizingRequest {
  Layout layout = Layout::sandbox_only;
  bool unified = true;  ///< v2 file names, else v1's
  std::uint64_t page_size = 4096;
  std::uint32_t vcpus = 0;                  ///< known vCPU threads
  bool local_vmm = true;                    ///< false: remote hypervisor
  bool vmm_started = true;                  ///< false: what it will boot with is not known yet
  std::optional<std::uint64_t> vmm_memory;  ///< boot memory by the VMM's command line, in bytes
  std::string hypervisor;                   ///< Kata's name for it ("qemu"), "" if not known
  SizingParent parent;
  History history;
};

/// Value: limits by the group that carries them; empty where nothing is to be written.
struct Sizing {
  Overhead overhead;
  std::vector<WantedFile> sandbox;      ///< sandbox group (memory.max; pod-less: cpu.max, weight)
  std::vector<WantedFile> vcpu;         ///< vcpu class group: quota and weight
  std::vector<WantedFile> other_class;  ///< io, vmm, shim class groups: weight
  std::vector<WantedFile> constrained;  ///< legacy v1: quota, shares, memory limit
  std::optional<std::uint64_t> memory_sum;  ///< S of this moment without history; absent: unlimited
  std::optional<std::uint64_t> memory_max;  ///< the sandbox group's; absent: unlimited
  std::string cpus;                         ///< union of the containers' cpusets, "" if none
  std::string mems;
  std::vector<Condition> conditions;
  std::vector<Explanation> explanations;
};

/// An absent limit means the kernel's default: a file that still carries an earlier limit is to be
/// lifted. Explanations are about "<file> of <role of the group>": "memory.max of sandbox".
[[nodiscard]] Sizing size(const Config& config, const SandboxInputs& inputs,
                          const SizingRequest& request);

}  // namespace kcg
