// SPDX-License-Identifier: Apache-2.0
#include "proc/own_namespaces.hpp"

#include <unistd.h>

#include <array>

namespace kcg {

namespace {

std::string link_of(const char* path) {
  std::array<char, 64> text{};
  const ssize_t size = ::readlink(path, text.data(), text.size());
  return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

Namespaces own_namespaces() {
  return {link_of("/proc/self/ns/pid"), link_of("/proc/self/ns/user"),
          link_of("/proc/self/ns/cgroup")};
}

}  // namespace kcg
