// SPDX-License-Identifier: Apache-2.0
//
// argv -> Options. Global options are taken before and after the verb.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tools/cgctl/options.hpp"

namespace kcg::cgctl {

/// Value: options, or what to print at once (help, version, a usage error) with which status.
struct CommandLine {
  Options options;
  std::optional<Exit> exit;  ///< set: print and leave
  std::string out;
  std::string err;
};
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

[[nodiscard]] Result<ContainerOption> parse_container(std::string_view text);

}  // namespace kcg::cgctl
