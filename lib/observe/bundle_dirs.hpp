// SPDX-License-Identifier: Apache-2.0
//
// Where engines keep their OCI bundles (L6): listing and naming, no parsing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"
#include "oci/bundle_json.hpp"

namespace kcg {

/// <containerd_state>/io.containerd.runtime.v2.task: one directory per namespace, in it one per id.
[[nodiscard]] std::string containerd_tasks_root(const Config::Discovery& discovery);
/// <crio_root>/overlay-containers: one directory per id, the bundle is its userdata/.
[[nodiscard]] std::string crio_containers_root(const Config::Discovery& discovery);

/// The origin of a bundle directory by its path alone; nullopt: not below a configured root.
[[nodiscard]] std::optional<BundleOrigin> bundle_origin(const Config::Discovery& discovery,
                                                        const std::string& directory);

/// An error for a root, or a namespace in one, that exists and cannot be listed: what is in it is
/// not known, which is not to say that there is nothing.
[[nodiscard]] Status bundles_readable(const Config::Discovery& discovery);

/// All bundle directories there are now, sorted by path. A root that does not exist has none.
[[nodiscard]] std::vector<BundleOrigin> list_bundles(const Config::Discovery& discovery);

}  // namespace kcg
