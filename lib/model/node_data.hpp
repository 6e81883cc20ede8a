// SPDX-License-Identifier: Apache-2.0
//
// What the kubelet said of a pod, as the engine passes it on through NRI (L1). Source:
// containerd/nri, pkg/api/api.proto.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/ids.hpp"
#include "model/resources.hpp"

namespace kcg {

/// Value: a pod as the orchestrator names it.
struct PodName {
  std::string ns;
  std::string name;
  std::string uid;
  bool operator==(const PodName&) const = default;
};

/// Value: CPU and memory of a whole pod. Absent = not said.
struct PodAmounts {
  std::optional<std::uint64_t> memory;  ///< bytes, never 0
  std::optional<std::uint64_t> cpu_milli;
  bool operator==(const PodAmounts&) const = default;
};

/// Value: see the head of the file.
struct NodeData {
  PodName pod;
  std::string handler;
  std::string cgroup_parent;  ///< verbatim: "/kubepods/pod1" or "kubepods-pod1.slice"
  std::map<std::string, std::string> labels;
  std::optional<std::string> overhead_annotation;  ///< ...hypervisor.memory_overhead, verbatim
  PodAmounts overhead;                             ///< of the pod, beyond its containers
  PodAmounts limits;                               ///< sum of the containers'
  std::optional<std::uint64_t> cpu_request_milli;
  std::map<std::string, Resources> containers;  ///< by id, as updated
  bool operator==(const NodeData&) const = default;
};

}  // namespace kcg
