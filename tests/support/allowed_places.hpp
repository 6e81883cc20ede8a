// SPDX-License-Identifier: Apache-2.0
//
// Where a sandbox's groups may stand, as docs/layouts.md says it; written by other means than the
// product's. Paths are texts here.
#pragma once

#include <string>

#include "model/observed.hpp"

namespace kcg::test {

/// What a cgroupsPath says; `pod` is "" when it says nothing usable.
struct Place {
  bool systemd = false;
  std::string pod;
  std::string scope;         ///< Kata's own, systemd driver
  std::string kata_sibling;  ///< name of the legacy constrained group
  std::string kata;          ///< Kata's own, cgroupfs driver
};

[[nodiscard]] Place place_of(const SandboxInputs& inputs);

[[nodiscard]] bool ends_with(const std::string& text, const std::string& end);
[[nodiscard]] std::string parent_of(const std::string& path);
[[nodiscard]] std::string below(const std::string& path, const std::string& name);
[[nodiscard]] std::string name_of(const std::string& path);
[[nodiscard]] bool in_scope(const std::string& path);
/// 64 characters of [a-z0-9] in a row: cAdvisor, and so the kubelet, takes a group of such a name
/// for a container.
[[nodiscard]] bool like_a_container(const std::string& name);
/// The name as it must stand inside a scope: never like a container's.
[[nodiscard]] std::string name_in_scope(std::string name);

}  // namespace kcg::test
