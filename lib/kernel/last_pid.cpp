// SPDX-License-Identifier: Apache-2.0
#include "kernel/last_pid.hpp"

#include "base/text.hpp"

namespace kcg {

std::optional<Pid> last_pid(std::string_view loadavg) {
  const auto fields = words(loadavg);
  return fields.size() == 5 ? parse_pid(fields.back()) : std::nullopt;
}

}  // namespace kcg
