// SPDX-License-Identifier: Apache-2.0
//
// A sandbox as people name it -> its full id. Pure, but for the source that is asked.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/view.hpp"
#include "tools/cgctl/source.hpp"

namespace kcg::cgctl {

/// The full id of the one sandbox that `text` names: by "namespace/pod", by the pod's name, by its
/// id, or by at least 4 characters from the beginning of its id. An ambiguous name lists the
/// candidates, a line each.
[[nodiscard]] Result<std::string> resolve_name(const std::vector<SandboxView>& views,
                                               const std::string& text);
/// As resolve_name(), among the sandboxes of the source; "" stays.
[[nodiscard]] Result<std::string> full_id(const std::string& text, Source& source);

/// "default/nginx"; a sandbox without a pod is called by its engine and id, in one word.
[[nodiscard]] std::string title(const SandboxView& view);

}  // namespace kcg::cgctl
