// SPDX-License-Identifier: Apache-2.0
//
// The set of writes that docs/layouts.md section 5 allows, written down a second time and by other
// means than the product's: every plan and every log of a FakeTree is held against it.
#pragma once

#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg::test {

/// One line per step that may not be; empty when all may.
[[nodiscard]] std::vector<std::string> forbidden(const Config& config, const Observed& observed,
                                                 const Plan& plan);
/// The same as one text, for messages of tests.
[[nodiscard]] std::string forbidden_text(const Config& config, const Observed& observed,
                                         const Plan& plan);
/// "create v2:/a/b", "limit v2:/a memory.max 'max' -> '4096'".
[[nodiscard]] std::string describe(const Step& step);
[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace kcg::test
