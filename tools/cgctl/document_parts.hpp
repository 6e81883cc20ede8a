// SPDX-License-Identifier: Apache-2.0
//
// What the renderers of plan and explain share: both draw JSON documents, because that is what the
// daemon sends.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/cgctl/render.hpp"

namespace kcg::cgctl::document_parts {

using Json = nlohmann::ordered_json;

/// A field as text; "" if it is missing.
[[nodiscard]] std::string field(const Json& object, const char* key);
[[nodiscard]] const Json& array(const Json& object, const char* key);
/// The sandboxes of a document of either form.
[[nodiscard]] Result<std::vector<Json>> sandboxes(const std::string& document);

/// Who it is, and the pod's group in full: all paths below are as seen from it.
[[nodiscard]] std::string heading(const Style& style, const Json& one, const Titles& titles);
[[nodiscard]] std::string conditions(const Style& style, const Json& one);
/// A path, or a text with paths, as seen from the pod's group.
[[nodiscard]] std::string from_pod(const Style& style, const Json& one, const std::string& text);

}  // namespace kcg::cgctl::document_parts
