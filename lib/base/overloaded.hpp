// SPDX-License-Identifier: Apache-2.0
//
// One function object out of several, for std::visit (L0).
#pragma once

namespace kcg {

/// std::visit(Overloaded{[](const A&) { ... }, [](const B&) { ... }}, variant)
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace kcg
