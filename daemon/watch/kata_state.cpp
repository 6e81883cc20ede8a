// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kata_state.hpp"

#include <utility>

namespace kcg {

namespace {

/// Patterns for each root.
constexpr std::size_t kPatterns = 3;

std::vector<PathPattern> patterns_of(const Config::Discovery& discovery) {
  std::vector<PathPattern> patterns;
  for (const auto& root : discovery.kata_state) {
    patterns.push_back({root + "/sbs", {"*"}, {"persist.json"}});
    patterns.push_back({root, {"*"}, {"state.json"}});
    patterns.push_back({root + "/sbs", {"*", "*"}, {"persist.json"}});  // of the containers
  }
  return patterns;
}

}  // namespace

KataStateWatch::KataStateWatch(Loop& loop, const Config::Discovery& discovery, HintSink sink,
                               TellHealth tell)
    : watch_(
          loop, patterns_of(discovery),
          [sink](std::size_t pattern, const std::string& directory) {
            const bool container = pattern % kPatterns == kPatterns - 1;
            const auto sandbox = container ? directory.substr(0, directory.rfind('/')) : directory;
            sink({HintKind::kata_state, sandbox.substr(sandbox.rfind('/') + 1), 0});
          },
          [sink] { sink({HintKind::rescan, "", 0}); }, std::move(tell)) {}

}  // namespace kcg
