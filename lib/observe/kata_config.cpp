// SPDX-License-Identifier: Apache-2.0
#include "observe/kata_config.hpp"

#include "base/dir.hpp"
#include "config/kata_config.hpp"
#include "model/errnos.hpp"
#include "observe/file_trouble.hpp"

namespace kcg {

std::optional<KataConfig> read_kata_config(const Config::Discovery& discovery) {
  for (const auto& path : discovery.kata_config) {
    // Distributions link this file into place: links are followed.
    const auto text = read_path(path);
    if (!text && errnos::no_file(text.error().code)) continue;
    if (!text) return std::nullopt;  // it counts, and cannot be read: another one must not
    const auto words = parse_kata_config(*text);
    KataConfig config;
    if (words.only) {
      config.only = words.only->value;
      config.where = fmt::format("{}:{}", path, words.only->line);
    }
    if (words.pinning) {
      config.pins = words.pinning->value;
      config.pins_where =
          words.pinning->line == 0 ? path : fmt::format("{}:{}", path, words.pinning->line);
    }
    for (const auto& [hypervisor, word] : words.default_memory)
      config.default_memory[hypervisor] = {word.mib, fmt::format("{}:{}", path, word.line)};
    return config;
  }
  return std::nullopt;
}

}  // namespace kcg
