// SPDX-License-Identifier: Apache-2.0
//
// Children, and time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::standin {

/// Value: what a child gets beside its arguments.
struct Surroundings {
  int descriptor_3 = -1;
  std::string output;  ///< a file that it appends to; "": as ours
  bool own_group = false;
};

/// argv[0] is a path. Every signal is unblocked again; stdin is /dev/null.
[[nodiscard]] Result<Pid> spawn(const std::vector<std::string>& argv, const Surroundings& around);
/// Waits for its end: whether it has succeeded.
[[nodiscard]] Result<bool> run(const std::vector<std::string>& argv, const Surroundings& around);
/// There, and no zombie.
[[nodiscard]] bool alive(Pid pid);
void pause_for(std::chrono::milliseconds time);

}  // namespace kcg::standin
