// SPDX-License-Identifier: Apache-2.0
//
// Work that never rests, beside the daemon: what Slice= and CPUWeight= of its unit are for.
#pragma once

#include <string>
#include <vector>

#include "support/live/child.hpp"

namespace kcg::bench {

/// What the daemon gets: as much as another service of the same slice, or as its unit asks.
enum class Share { of_a_service, of_its_unit };

/// Resource: a busy process on each CPU, together one service in a slice, and the daemon as another
/// one, in the machine's v1 hierarchy of the cpu controller. Put back and removed by its
/// destructor. Throws where there is no such hierarchy.
class Hogs final {
 public:
  Hogs(int daemon, Share share);
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::string cpu_;  ///< where the hierarchy is mounted
  std::string slice_;
  std::string daemons_;  ///< its group
  int daemon_;
  std::vector<live::Child> hogs_;
};

}  // namespace kcg::bench
