// SPDX-License-Identifier: Apache-2.0
//
// OCI bundles of containerd and CRI-O as they come, change and go (L6).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/watch/path_watch.hpp"
#include "model/config.hpp"
#include "oci/bundle_json.hpp"

namespace kcg {

/// Resource: HintKind::bundle with the bundle's directory whenever one appears or vanishes, or its
/// config.json, shim.pid or shim-binary-path is written; HintKind::rescan after lost events.
class BundleWatch final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<BundleWatch>> create(
      Loop& loop, const Config::Discovery& discovery, HintSink sink);

  /// All bundle directories there are now.
  [[nodiscard]] std::vector<BundleOrigin> scan() const;
  /// Why some are not watched, "" if all are.
  [[nodiscard]] const std::string& problem() const { return watch_->problem(); }

 private:
  explicit BundleWatch(const Config::Discovery& discovery) : discovery_(discovery) {}

  Config::Discovery discovery_;
  std::unique_ptr<PathWatch> watch_;
};

}  // namespace kcg
