// SPDX-License-Identifier: Apache-2.0
//
// Control files of a FakeTree: which ones a group has, what they read, what a write does to them.
// Membership files (cgroup.procs, cgroup.threads, tasks) are FakeTree's own, everything else is
// here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/fake_group.hpp"

namespace kcg::test {

/// Contents without the trailing newline; nullopt: this group has no such file.
[[nodiscard]] std::optional<std::string> read_file(const FakeGroup& group, const Host& host,
                                                   const std::string& file);
/// An errno, 0 = written. Values are kept in the form in which the kernel shows them.
[[nodiscard]] int write_file(FakeGroup& group, const Host& host, const std::string& file,
                             std::string_view text);

/// Values of a new group that depend on the host: v1's "unlimited" is a number of whole pages.
void set_initial_values(FakeGroup& group, const Host& host);

}  // namespace kcg::test
