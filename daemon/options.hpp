// SPDX-License-Identifier: Apache-2.0
//
// The daemon's command line (L9). Options win over the configuration.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "daemon/log.hpp"
#include "model/config.hpp"

namespace kcg {

/// Value: what was asked for.
struct Options {
  std::string config_file;  ///< "": the standard place, which may be missing
  bool check_config = false;
  bool dump_config = false;
  bool observe = false;
  std::string bus;
  std::string cgroup_root;
  std::string run_root;
  LogLevel log_level = LogLevel::info;
};

/// Value: either options, or an exit status because everything is said (--help, a usage error).
struct Parsed {
  Options options;
  std::optional<int> exit_code;
};
[[nodiscard]] Parsed parse_options(int argc, char** argv);

/// Reads the configuration that the options name, and lets the options win.
[[nodiscard]] Result<Config> effective_config(const Options& options);

/// What only the machine can tell: a root of cgroups that somebody has set must be one here.
[[nodiscard]] Status fits_this_machine(const Config& config);

/// Where state is kept: an absolute path, below the run root.
[[nodiscard]] std::string below_run_root(const Options& options, const char* directory);

}  // namespace kcg
