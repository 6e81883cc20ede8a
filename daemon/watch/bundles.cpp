// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/bundles.hpp"

#include <utility>

#include "observe/bundle_dirs.hpp"

namespace kcg {

namespace {

std::vector<PathPattern> patterns_of(const Config::Discovery& discovery) {
  const std::set<std::string, std::less<>> files = {"config.json", "shim.pid", "shim-binary-path"};
  return {{containerd_tasks_root(discovery), {"*", "*"}, files},
          {crio_containers_root(discovery), {"*", "userdata"}, files}};
}

}  // namespace

BundleWatch::BundleWatch(Loop& loop, const Config::Discovery& discovery, HintSink sink,
                         TellHealth tell)
    : watch_(
          loop, patterns_of(discovery),
          [sink](const std::string& directory) { sink({HintKind::bundle, directory, 0}); },
          [sink] { sink({HintKind::rescan, "", 0}); }, std::move(tell)) {}

}  // namespace kcg
