// SPDX-License-Identifier: Apache-2.0
//
// linux.resources of the OCI runtime spec -> Resources (L2, private to oci/).
#pragma once

#include "model/resources.hpp"
#include "oci/json_view.hpp"

namespace kcg {

/// An absent object gives empty resources. A period of 0 is what runtimes take for "not given".
[[nodiscard]] Resources read_resources(const JsonView& resources);

}  // namespace kcg
