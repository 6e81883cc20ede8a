// SPDX-License-Identifier: Apache-2.0
#include "support/live/wait.hpp"

#include <poll.h>

namespace kcg::live {

bool wait_until(const std::function<bool()>& settled, std::chrono::milliseconds patience,
                std::chrono::milliseconds step) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!settled()) {
    if (std::chrono::steady_clock::now() > deadline) return settled();
    ::poll(nullptr, 0, static_cast<int>(step.count()));
  }
  return true;
}

}  // namespace kcg::live
