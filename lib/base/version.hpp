// SPDX-License-Identifier: Apache-2.0
//
// Which version this is (L0). A file of its own, so that another version is compiled in a moment.
#pragma once

namespace kcg {

/// As meson.build says it: "0.1.0".
[[nodiscard]] const char* version();

}  // namespace kcg
