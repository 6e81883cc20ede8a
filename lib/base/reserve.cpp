// SPDX-License-Identifier: Apache-2.0
#include "base/reserve.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace kcg {

int first_for_looks() {
  constexpr auto kMost = std::numeric_limits<int>::max();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kMost)) - kForLooks;
}

}  // namespace kcg
