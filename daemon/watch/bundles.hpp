// SPDX-License-Identifier: Apache-2.0
//
// OCI bundles of containerd and CRI-O as they come, change and go (L9).
#pragma once

#include <vector>

#include "daemon/watch/path_watch.hpp"
#include "model/config.hpp"
#include "oci/bundle_json.hpp"

namespace kcg {

/// Resource: HintKind::bundle with the bundle's directory whenever one appears or vanishes, or its
/// config.json, shim.pid or shim-binary-path is written; HintKind::rescan after lost events.
class BundleWatch final {
 public:
  BundleWatch(Loop& loop, const Config::Discovery& discovery, HintSink sink, TellHealth tell);

  /// Something was mounted or unmounted.
  void recheck() { watch_.recheck(); }

 private:
  PathWatch watch_;
};

}  // namespace kcg
