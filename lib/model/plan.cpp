// SPDX-License-Identifier: Apache-2.0
#include "model/plan.hpp"

#include <array>

namespace kcg {

std::string_view name(Op op) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "enable",       "create",      "mark",   "seed",        "device",   "limit",
      "move-process", "move-thread", "remove", "start-scope", "set-scope"};
  return kNames.at(static_cast<std::size_t>(op));
}

}  // namespace kcg
