// SPDX-License-Identifier: Apache-2.0
#include "support/live/placing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "support/live/placement.hpp"

namespace kcg::live {

double placing(const Node& node, const std::string& name) {
  constexpr std::size_t kPods = 9;
  std::vector<double> took;
  for (std::size_t i = 0; i < kPods; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const auto pod =
        node.sandbox({.pod = fmt::format("podmeasured{}", i), .light = true, .vcpus = 2});
    pod->start();
    if (const auto wrong = settle(*pod); !wrong.empty())
      throw std::runtime_error(name + ": a pod is not placed:\n" + wrong);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - began;
    took.push_back(time.count());
    pod->end();
  }
  std::sort(took.begin(), took.end());
  std::printf("%s: %.0f ms, at most %.0f\n", name.c_str(), took[kPods / 2], took.back());
  return took[kPods / 2];
}

}  // namespace kcg::live
