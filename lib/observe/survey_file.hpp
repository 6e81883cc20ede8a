// SPDX-License-Identifier: Apache-2.0
//
// What the daemon keeps over boots of what sandboxes have used beside their guests (L6): one file
// in its state directory, which cgctl reads when the daemon does not run.
#pragma once

#include "base/dir.hpp"
#include "measure/survey.hpp"

namespace kcg {

inline constexpr const char* kStateDirectory = "/var/lib/kata-cgroupd";
inline constexpr const char* kSurveyFile = "overheads.json";

/// Empty: there is no such file. An error: it cannot be read, or is none.
[[nodiscard]] Result<Survey> read_survey(const Dir& state);

}  // namespace kcg
