// SPDX-License-Identifier: Apache-2.0
//
// The namespaces that this process is in (L5), for kernel/namespaces.hpp to judge.
#pragma once

#include "kernel/namespaces.hpp"

namespace kcg {

[[nodiscard]] Namespaces own_namespaces();

}  // namespace kcg
