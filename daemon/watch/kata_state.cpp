// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kata_state.hpp"

#include <utility>

namespace kcg {

namespace {

/// Patterns for each root.
constexpr std::size_t kPatterns = 3;

}  // namespace

Result<std::unique_ptr<KataStateWatch>> KataStateWatch::create(Loop& loop,
                                                               const Config::Discovery& discovery,
                                                               HintSink sink) {
  std::vector<PathPattern> patterns;
  for (const auto& root : discovery.kata_state) {
    patterns.push_back({root + "/sbs", {"*"}, {"persist.json"}});
    patterns.push_back({root, {"*"}, {"state.json"}});
    patterns.push_back({root + "/sbs", {"*", "*"}, {"persist.json"}});  // of the containers
  }
  std::unique_ptr<KataStateWatch> self(new KataStateWatch);
  auto watch = PathWatch::create(
      loop, std::move(patterns),
      [sink](std::size_t pattern, const std::string& directory) {
        const bool container = pattern % kPatterns == kPatterns - 1;
        const auto sandbox = container ? directory.substr(0, directory.rfind('/')) : directory;
        sink({HintKind::kata_state, sandbox.substr(sandbox.rfind('/') + 1), 0});
      },
      [sink] { sink({HintKind::rescan, "", 0}); });
  if (!watch) return forward(watch.error(), "Kata's state");
  self->watch_ = std::move(*watch);
  return self;
}

}  // namespace kcg
