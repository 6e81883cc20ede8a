// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kata_state.hpp"

#include <utility>

namespace kcg {

Result<std::unique_ptr<KataStateWatch>> KataStateWatch::create(Loop& loop,
                                                               const Config::Discovery& discovery,
                                                               HintSink sink) {
  std::vector<PathPattern> patterns;
  for (const auto& root : discovery.kata_state) {
    patterns.push_back({root + "/sbs", {"*"}, {"persist.json"}});
    patterns.push_back({root, {"*"}, {"state.json"}});
  }
  std::unique_ptr<KataStateWatch> self(new KataStateWatch);
  auto watch = PathWatch::create(
      loop, std::move(patterns),
      [sink](std::size_t, const std::string& directory) {
        sink({HintKind::kata_state, directory.substr(directory.rfind('/') + 1), 0});
      },
      [sink] { sink({HintKind::rescan, "", 0}); });
  if (!watch) return forward(watch.error(), "Kata's state");
  self->watch_ = std::move(*watch);
  return self;
}

}  // namespace kcg
