// SPDX-License-Identifier: Apache-2.0
//
// Work that never rests, beside the daemon: what CPUWeight= is for.
#pragma once

#include <string>
#include <vector>

#include "support/live/child.hpp"

namespace kcg::bench {

/// Resource: a busy process on each CPU in one group, and the daemon in another one beside it, with
/// these weights (systemd's: 100 is the default) in the machine's v1 hierarchy of the cpu
/// controller. Put back and removed by its destructor. Throws where there is no such hierarchy.
class Hogs final {
 public:
  Hogs(int daemon, unsigned weight);
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::string cpu_;  ///< where the hierarchy is mounted
  std::string top_;
  int daemon_;
  std::vector<live::Child> hogs_;
};

}  // namespace kcg::bench
