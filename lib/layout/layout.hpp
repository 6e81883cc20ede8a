// SPDX-License-Identifier: Apache-2.0
//
// Which layout, which form, which directories (L3). See docs/layouts.md.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cgroups_path.hpp"
#include "model/config.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: the decision and what should be said about it.
struct LayoutDecision {
  CgroupsPath path;
  FixedLayout chosen;
  std::vector<Condition> conditions;
};

/// Who speaks first decides: registration, our configuration, Kata's state, the pod's annotation,
/// Kata's configuration, default. A layout that is in force already stays (LayoutChanged). An
/// unusable cgroupsPath is an error.
[[nodiscard]] Result<LayoutDecision> decide_layout(const Config& config, const Observed& observed);

/// The layout of one that is not placed yet, by the same voices.
[[nodiscard]] Layout chosen_layout(const Config& config, const SandboxInputs& inputs,
                                   const Host& host);

[[nodiscard]] Layout layout_of(Form form);

/// Whether a group of this form can be on such a host: of the two legacy forms, which share a path,
/// one is.
[[nodiscard]] bool possible(Form form, const Host& host, Driver driver);

/// Value: the directories of one form; equal in all hierarchies.
struct LayoutPaths {
  CgroupPath sandbox;                  ///< legacy on v1: the constrained group
  std::optional<CgroupPath> overhead;  ///< legacy on v1: the unconstrained group
};
[[nodiscard]] Result<LayoutPaths> layout_paths(const Config& config, const SandboxId& id,
                                               const CgroupsPath& path, Form form);

/// The same, but a sandbox group that an earlier version made under its whole name is used as it
/// is until the sandbox ends.
[[nodiscard]] Result<LayoutPaths> paths_in_force(const Config& config, const Observed& observed,
                                                 const CgroupsPath& path, Form form);

/// Directories that Kata makes for this path in sandbox-only and legacy: dirname/kata_basename, the
/// scope, the literal directory at the root, the overhead group.
[[nodiscard]] std::vector<CgroupPath> kata_paths(const SandboxId& id, const CgroupsPath& path);

/// Every directory where a sandbox group of ours may stand, with its form, those of earlier
/// versions included: what observe looks at to find the layout in force after a restart.
[[nodiscard]] std::vector<std::pair<Form, CgroupPath>> candidate_paths(const Config& config,
                                                                       const SandboxId& id,
                                                                       const CgroupsPath& path);

/// Scopes stand in these hierarchies; in the others (v1's cpuset, hugetlb and perf_event) runtimes
/// make directories of the same path themselves, and so do we.
[[nodiscard]] bool systemd_manages(const Hierarchy& hierarchy);

/// The form whose marked sandbox group exists while a VMM runs; nullopt: none.
[[nodiscard]] std::optional<Form> form_in_force(const Config& config, const Observed& observed,
                                                const CgroupsPath& path);

/// The four class groups below a sandbox group.
[[nodiscard]] CgroupPath class_path(const CgroupPath& sandbox, ThreadClass cls);

/// Value: all four, made once: whoever names one of them shares its text.
class ClassPaths final {
 public:
  explicit ClassPaths(const CgroupPath& sandbox);
  [[nodiscard]] const CgroupPath& operator[](ThreadClass cls) const {
    return paths_.at(static_cast<std::size_t>(cls));
  }

 private:
  std::array<CgroupPath, std::size(kThreadClasses)> paths_;
};

}  // namespace kcg
