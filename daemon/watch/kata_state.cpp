// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kata_state.hpp"

#include <utility>

namespace kcg {

namespace {

std::vector<PathPattern> patterns_of(const Config::Discovery& discovery) {
  std::vector<PathPattern> patterns;
  for (const auto& root : discovery.kata_state) {
    patterns.push_back({.base = root + "/sbs", .levels = {"*"}, .files = {"persist.json"}});
    patterns.push_back({.base = root, .levels = {"*"}, .files = {"state.json"}});
    patterns.push_back({// of the containers
                        .base = root + "/sbs",
                        .levels = {"*", "*"},
                        .files = {"persist.json"},
                        .above = 1});
  }
  return patterns;
}

}  // namespace

KataStateWatch::KataStateWatch(Loop& loop, const Config::Discovery& discovery, HintSink sink,
                               TellHealth tell)
    : watch_(
          loop, patterns_of(discovery),
          [sink](const std::string& sandbox) {
            sink({HintKind::kata_state, sandbox.substr(sandbox.rfind('/') + 1), 0});
          },
          [sink] { sink({HintKind::rescan, "", 0}); }, std::move(tell)) {}

}  // namespace kcg
