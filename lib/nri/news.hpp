// SPDX-License-Identifier: Apache-2.0
//
// What one call of the runtime tells (L2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/node_data.hpp"

namespace kcg::nri {

/// Value: a pod; the data has no containers here.
struct PodNews {
  std::string id;
  NodeData data;
  bool in_passing = false;  ///< the call is about something else: what is known counts for more
  bool operator==(const PodNews&) const = default;
};

/// Value: the limits of one container.
struct ContainerNews {
  std::string pod;
  std::string id;
  Resources resources;
  bool partial = false;  ///< asked for, not granted yet; what is absent stays as it is
  bool operator==(const ContainerNews&) const = default;
};

/// Value: see the head of the file.
struct News {
  /// Of a Synchronize: all that there is, in one or more parts.
  enum class Whole : std::uint8_t { no, part, last };
  Whole whole = Whole::no;
  std::vector<PodNews> pods;
  std::vector<ContainerNews> containers;
  std::vector<std::string> pods_gone;
  std::vector<ContainerNews> containers_gone;  ///< without resources
  std::string runtime;                         ///< of Configure: "containerd v1.7.24"; else ""
  bool operator==(const News&) const = default;
};

}  // namespace kcg::nri
