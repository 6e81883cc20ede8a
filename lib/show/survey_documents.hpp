// SPDX-License-Identifier: Apache-2.0
//
// What sandboxes have used beside their guests, as JSON (L4): what the daemon keeps of it over its
// restarts and the node's, and what `recommend` tells.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "measure/survey.hpp"

namespace kcg {

/// What is kept.
[[nodiscard]] std::string survey_document(const Survey& survey);
/// An error: it is none of version 1, and why.
[[nodiscard]] Result<Survey> parse_survey_document(const std::string& text);

/// The document of `recommend`.
[[nodiscard]] std::string advice_document(const std::vector<OverheadAdvice>& advices);
/// An error: it is none of version 1, and why.
[[nodiscard]] Result<std::vector<OverheadAdvice>> parse_advice_document(const std::string& text);

}  // namespace kcg
