// SPDX-License-Identifier: Apache-2.0
//
// SystemdManager over a FakeTree: jobs wait until a test ends them, scopes are groups below their
// slice's directory, and a scope whose last process left is removed, as systemd does it. Limits are
// asked for as unit properties, and written into files as systemd does.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cgroup/systemd_manager.hpp"
#include "support/fake_tree.hpp"
#include "support/fake_unit.hpp"

namespace kcg::test {

/// Resource: see the head of the file.
class FakeSystemd final : public SystemdManager {
 public:
  explicit FakeSystemd(FakeTree& tree) : tree_(tree) {}

  [[nodiscard]] Status start_scope(const ScopeRequest& request) override;
  [[nodiscard]] Status set_limits(const std::string& unit,
                                  const std::vector<WantedFile>& limits) override;

  /// Does all that was asked for as systemd would; the units, for HintKind::job.
  std::vector<std::string> finish_jobs();
  /// Drops all that was asked for; the units, as above.
  std::vector<std::string> fail_jobs();
  /// Every call from now on fails; 0 = none does.
  void fail_calls(int code) { fault_ = code; }
  /// Removes scopes without processes.
  void collect_empty_scopes();
  [[nodiscard]] const std::vector<ScopeRequest>& waiting() const { return waiting_; }
  [[nodiscard]] bool limits_wait() const { return !limits_.empty(); }

 private:
  struct Scope {
    CgroupPath path;
    FakeUnit properties;
  };
  void make_scope(const ScopeRequest& request);
  void write(const std::string& unit);

  FakeTree& tree_;
  std::vector<ScopeRequest> waiting_;
  std::set<std::string> limits_;         ///< units whose files are not written yet
  std::map<std::string, Scope> scopes_;  ///< by unit
  int fault_ = 0;
};

}  // namespace kcg::test
