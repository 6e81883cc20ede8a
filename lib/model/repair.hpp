// SPDX-License-Identifier: Apache-2.0
//
// What somebody had undone (L1): found by record/, told by history/.
#pragma once

#include <string>

#include "model/host.hpp"

namespace kcg {

/// Value: one thing that somebody had undone, and that was put back.
struct Repair {
  std::string file;     ///< "": a thread or a process was moved
  GroupRef group;       ///< of the file; else where it belongs
  std::string found;    ///< the file's text; else the group where it was
  std::string written;  ///< the file's text; else who: "15390"
  bool operator==(const Repair&) const = default;
};

}  // namespace kcg
