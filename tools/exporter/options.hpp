// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroup-exporter's command line as a value.
#pragma once

#include <optional>
#include <string>

namespace kcg::exporter {

/// Value: see the head of the file.
struct Options {
  std::string listen = "127.0.0.1:9838";
  std::string bus = "system";
};

/// Value: what the command line asks for; with `exit`, only that `out` and `err` are printed.
struct CommandLine {
  Options options;
  std::optional<int> exit;
  std::string out, err;
};

[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace kcg::exporter
