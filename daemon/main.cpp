// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroupd: parse, set up, run.
#include <fmt/format.h>
#include <cstdio>

#include "config/dump.hpp"
#include "daemon/app.hpp"
#include "daemon/options.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadConfig = 78;  // EX_CONFIG: systemd shows it as such

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = kcg::parse_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const auto loaded = kcg::effective_config(parsed.options);
  if (!loaded) {
    fmt::print(stderr, "<3>{}\n", loaded.error().text);
    return kBadConfig;
  }
  if (parsed.options.dump_config) fmt::print("{}", kcg::dump(*loaded));
  if (parsed.options.dump_config || parsed.options.check_config) return 0;
  const auto ended = kcg::run_daemon(parsed.options, *loaded);
  if (ended) return *ended;
  fmt::print(stderr, "<3>{}\n", ended.error().text);
  return kFailed;
}
