// SPDX-License-Identifier: Apache-2.0
//
// What was said about sandboxes (L5): bundles, Kata's state and registrations, read from their
// files and kept by inode and mtime, so that looking again at an unchanged file costs one stat.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "model/bundle.hpp"
#include "model/config.hpp"
#include "observe/kata_config.hpp"
#include "oci/bundle_json.hpp"
#include "plan/recognise.hpp"

namespace kcg {

/// Value: what a changed file means.
struct InputChange {
  std::set<SandboxId> sandboxes;  ///< look at these again
  bool unreadable = false;        ///< half-written perhaps: read it again a little later
};

/// Resource: see the head of the file. Bounded by Config::Limits.
class InputStore final {
 public:
  explicit InputStore(const Config& config) : config_(config) {}

  /// Reads the bundle again; a directory that is gone is forgotten.
  [[nodiscard]] InputChange bundle_changed(const BundleOrigin& origin);
  /// Reads Kata's state of one sandbox again.
  [[nodiscard]] InputChange state_changed(const SandboxId& id);
  void set_registration(const SandboxId& id, std::optional<Registration> registration);
  /// sandbox_cgroup_only of Kata's configuration.toml, read by the caller.
  void set_kata_config(std::optional<KataConfig> config) { kata_config_ = std::move(config); }
  void set_config(const Config& config) { config_ = config; }

  /// Everything known about one sandbox, with conditions (ForeignContainer, BundleUnreadable).
  [[nodiscard]] Assembled inputs(const SandboxId& id) const;
  /// A bundle or a registration names it.
  [[nodiscard]] bool known(const SandboxId& id) const {
    return claims_.contains(id) || registrations_.contains(id);
  }
  /// Every id that a bundle, a state file that was asked for, or a registration names.
  [[nodiscard]] std::set<SandboxId> ids() const;
  /// All bundles known, by directory.
  [[nodiscard]] std::vector<BundleOrigin> origins() const;
  /// True when max_sandboxes bundles are known and another one was refused.
  [[nodiscard]] bool full() const { return bundles_.size() >= config_.limits.max_sandboxes * 8; }

 private:
  struct BundleEntry {
    BundleOrigin origin;
    FileStamp stamp;
    std::optional<Bundle> bundle;
    std::string problem;
    std::optional<SandboxId> claims;  ///< the sandbox that it names
  };
  struct StateEntry {
    std::string path;
    FileStamp stamp;
    std::map<std::string, FileStamp> containers;  ///< Go: of each container's own file
    std::optional<KataState> state;
    std::string problem;
  };
  void drop_claim(const BundleEntry& entry, InputChange& change);
  void read_side_files(const Dir& dir, Bundle& bundle) const;

  Config config_;
  std::map<std::string, BundleEntry> bundles_;         ///< by directory
  std::map<SandboxId, std::set<std::string>> claims_;  ///< sandbox -> bundle directories
  std::map<SandboxId, StateEntry> states_;
  std::map<SandboxId, Registration> registrations_;
  std::optional<KataConfig> kata_config_;
};

}  // namespace kcg
