// SPDX-License-Identifier: Apache-2.0
//
// `registrations`: what callers declared, since when, and who. Pure.
#pragma once

#include <string>
#include <vector>

#include "daemon/manager.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

[[nodiscard]] std::string render_registrations(const Style& style,
                                               const std::vector<RegisteredView>& views);
/// The JSON document.
[[nodiscard]] std::string registrations_document(const std::vector<RegisteredView>& views);

}  // namespace kcg::cgctl
