// SPDX-License-Identifier: Apache-2.0
//
// Who makes a directory with such a name (L3): Kata, the engine, the kubelet, or we. A name is a
// hint for people and for looking around; what is ours is decided by the mark, never by the name.
#pragma once

#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace kcg {

enum class Maker : std::uint8_t {
  none,           ///< no name that we know
  kubelet,        ///< kubepods and what it makes below: QoS classes and pod cgroups
  kata_cgroupfs,  ///< <pod>/kata_<id>
  engine_scope,   ///< <slice>/<engine>-<id>.scope, asked for by a shim or by runc
  kata_literal,   ///< "<slice>:<prefix>:<id>" taken literally, at the root
  kata_overhead,  ///< /kata_overhead/<id>, /kata.slice/kata-overhead.slice/runtime-rs-<id>.scope
  kata_shared,    ///< /kata_vc: of several sandboxes at once
  ours,
};
[[nodiscard]] std::string_view name(Maker maker);

/// Value: a maker, and whose directory it is; no sandbox for directories that several share.
struct MadeBy {
  Maker maker = Maker::none;
  std::string sandbox;
  bool operator==(const MadeBy&) const = default;
};

/// `legacy_root`: as configured, "/kata" by default.
[[nodiscard]] MadeBy made_by(const CgroupPath& path, std::string_view legacy_root = "/kata");

}  // namespace kcg
