// SPDX-License-Identifier: Apache-2.0
#include "kernel/cmdline.hpp"

namespace kcg {

std::vector<std::string> split_cmdline(std::string_view text, std::size_t max) {
  std::vector<std::string> args;
  while (!text.empty() && args.size() < max) {
    const auto end = text.find('\0');
    args.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return args;
}

}  // namespace kcg
