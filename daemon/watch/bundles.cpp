// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/bundles.hpp"

#include <utility>

#include "observe/bundle_dirs.hpp"

namespace kcg {

Result<std::unique_ptr<BundleWatch>> BundleWatch::create(Loop& loop,
                                                         const Config::Discovery& discovery,
                                                         HintSink sink) {
  const std::set<std::string, std::less<>> files = {"config.json", "shim.pid", "shim-binary-path"};
  std::unique_ptr<BundleWatch> self(new BundleWatch(discovery));
  auto watch = PathWatch::create(
      loop,
      {{containerd_tasks_root(discovery), {"*", "*"}, files},
       {crio_containers_root(discovery), {"*", "userdata"}, files}},
      [sink](std::size_t, const std::string& directory) { sink({HintKind::bundle, directory, 0}); },
      [sink] { sink({HintKind::rescan, "", 0}); });
  if (!watch) return forward(watch.error(), "bundles");
  self->watch_ = std::move(*watch);
  return self;
}

std::vector<BundleOrigin> BundleWatch::scan() const { return list_bundles(discovery_); }

}  // namespace kcg
