// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroupd: parse, set up, run.
#include <fmt/format.h>

#include "config/dump.hpp"
#include "daemon/app.hpp"
#include "daemon/log.hpp"
#include "daemon/options.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadConfig = 78;  // EX_CONFIG: systemd shows it as such

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = kcg::parse_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const auto config = kcg::effective_config(parsed.options);
  if (!config) {
    kcg::print_line(kcg::LogLevel::error, config.error().text);
    return kBadConfig;
  }
  if (parsed.options.dump_config) fmt::print("{}", kcg::dump(*config));
  const auto fits = parsed.options.check_config ? kcg::fits_this_machine(*config) : kcg::Status();
  if (!fits) {
    kcg::print_line(kcg::LogLevel::error, fits.error().text);
    return kBadConfig;
  }
  if (parsed.options.dump_config || parsed.options.check_config) return 0;
  const auto ended = kcg::run_daemon(parsed.options, *config);
  if (ended) return *ended;
  kcg::print_line(kcg::LogLevel::error, ended.error().text);
  return kFailed;
}
