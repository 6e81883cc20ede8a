// SPDX-License-Identifier: Apache-2.0
//
// What a sandbox group is called (L3). cAdvisor, and with it the kubelet, takes every cgroup whose
// last component holds 64 characters of [a-z0-9] in a row for a container of that id. Beside Kata's
// own empty group that is right; inside the scope of the same id it would be a second one, and
// every sum over the pod would count the sandbox twice. A name inside a scope is therefore cut.
#pragma once

#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace kcg {

/// `text` with a '-' after the 32nd character of every run of [a-z0-9] that is 64 or more long, and
/// again in what follows as long as 64 or more are left in a row.
[[nodiscard]] std::string cut(std::string_view text);

/// True if one of the directories on the way is a scope.
[[nodiscard]] bool inside_scope(const CgroupPath& path);

/// "kata-sandbox-<id>", cut where `parent` is a scope or below one.
[[nodiscard]] std::string group_name(const SandboxId& id, const CgroupPath& parent);

/// The name that earlier versions gave everywhere.
[[nodiscard]] std::string whole_group_name(const SandboxId& id);

}  // namespace kcg
