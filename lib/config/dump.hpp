// SPDX-License-Identifier: Apache-2.0
//
// The effective configuration and the shipped sample as TOML (L3).
#pragma once

#include <string>

#include "model/config.hpp"

namespace kcg {

/// All keys with their values, each with its origin as a comment. Loading it again gives the same
/// configuration.
[[nodiscard]] std::string dump(const Config& config);

/// Every key at its default, commented out and explained: systemd/config.toml is this text.
[[nodiscard]] std::string sample_config();

}  // namespace kcg
