// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "contract/world.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

void PrintTo(const WorldKind& kind, std::ostream* out) { *out << kind.name; }

std::vector<WorldKind> worlds(bool unified, std::string_view controller) {
  std::vector<WorldKind> kinds;
  kinds.push_back({"fake", unified ? fake_host_v2() : fake_host_v1(), make_fake_world});
  kinds.push_back({"kernel", machine_host(unified), make_kernel_world});
  std::erase_if(kinds, [&](const WorldKind& kind) {
    return std::none_of(
        kind.host.hierarchies.begin(), kind.host.hierarchies.end(),
        [&](const Hierarchy& one) { return controller.empty() || one.has(controller); });
  });
  return kinds;
}

}  // namespace kcg::test
