// SPDX-License-Identifier: Apache-2.0
//
// A file of a group with its text (L1).
#pragma once

#include <string>

namespace kcg {

/// Value: a file of a group and the text it should hold.
struct WantedFile {
  std::string key;    ///< "memory.max"
  std::string value;  ///< kernel text
  bool operator==(const WantedFile&) const = default;
};

}  // namespace kcg
