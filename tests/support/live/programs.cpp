// SPDX-License-Identifier: Apache-2.0
#include "support/live/programs.hpp"

#include <filesystem>
#include <stdexcept>

namespace kcg::live {

std::string built(const std::string& path) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto program = self.parent_path().parent_path().parent_path() / path;
  if (!std::filesystem::exists(program))
    throw std::runtime_error(program.string() + " was not built: run `ninja " + path + "` first");
  return program;
}

}  // namespace kcg::live
