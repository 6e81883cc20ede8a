// SPDX-License-Identifier: Apache-2.0
//
// JSON documents against their schemas.
#pragma once

#include <string>

namespace kcg::integration {

/// "" when `document` fits docs/schemas/<kind>.schema.json, else what does not.
[[nodiscard]] std::string misfit(const std::string& kind, const std::string& document);

}  // namespace kcg::integration
