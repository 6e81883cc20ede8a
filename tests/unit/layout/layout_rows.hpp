// SPDX-License-Identifier: Apache-2.0
//
// What the tests of layouts have in common.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "layout/layout.hpp"
#include "oci/cgroups_path.hpp"

namespace kcg::test {

inline SandboxId id_of(const char* text) { return SandboxId::parse(text).value(); }
inline CgroupsPath path_of(const std::string& text) { return parse_cgroups_path(text).value(); }

template <class Row>
std::string row_name(const testing::TestParamInfo<Row>& info) {
  return info.param.name;
}

}  // namespace kcg::test
