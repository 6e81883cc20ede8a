// SPDX-License-Identifier: Apache-2.0
#include "model/sandbox_history.hpp"

#include <array>

namespace kcg {

namespace {

constexpr std::array<std::string_view, 6> kKinds = {"placed", "repaired", "limit-changed",
                                                    "raised", "cleared",  "ended"};

}  // namespace

std::string_view name(EventKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

}  // namespace kcg
