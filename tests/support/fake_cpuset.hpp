// SPDX-License-Identifier: Apache-2.0
//
// cpuset files of a FakeTree. Lists are parsed here with std::set and not with the product's
// parser: a fake that shares its subject's code would share its mistakes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/fake_group.hpp"

namespace kcg::test {

/// cpuset.cpus or cpuset.mems; an errno, 0 = written.
[[nodiscard]] int write_cpus(FakeGroup& group, const Host& host, const std::string& file,
                             std::string_view text);
/// Any of the four cpuset files; nullopt: another file.
[[nodiscard]] std::optional<std::string> read_cpus(const FakeGroup& group, const Host& host,
                                                   const std::string& file);
/// v1: a group without CPUs or without memory nodes rejects every task.
[[nodiscard]] bool cpuset_is_empty(const FakeGroup& group);

}  // namespace kcg::test
