// SPDX-License-Identifier: Apache-2.0
//
// `recommend`: what sandboxes use beside their guests, and which overhead to declare for it. Pure.
#pragma once

#include <string>
#include <vector>

#include "measure/survey.hpp"
#include "tools/cgctl/source.hpp"
#include "tools/cgctl/table.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

[[nodiscard]] Result<Answer> recommendation(const Options& options, const Style& style,
                                            Source& source);
/// `handler`: whom was asked for; "": all.
[[nodiscard]] std::string render_advice(const Style& style,
                                        const std::vector<OverheadAdvice>& advices,
                                        const std::string& handler);

}  // namespace kcg::cgctl
