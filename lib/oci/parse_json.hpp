// SPDX-License-Identifier: Apache-2.0
//
// JSON as far as somebody wants it (L2). An engine's config.json is some 40 KiB, most of it mounts
// and a list of system calls; a dozen of its values decide something. What nobody wants is checked
// and let go while it is read.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// Value: keys from the top level on, "linux.resources", with all that stands below them. Elements
/// of an array stand where the array does. "": everything.
using WantedJson = std::initializer_list<std::string_view>;

/// A whole text, nested at most 64 levels deep; of it what is wanted, and what that stands in. Of
/// equal keys the last one counts.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, WantedJson wanted = {""});

/// What is wanted of a text up to the place where it stops being such a text; null: nothing.
[[nodiscard]] nlohmann::json beginning_of_json(std::string_view text, WantedJson wanted);

}  // namespace kcg
