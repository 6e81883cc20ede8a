// SPDX-License-Identifier: Apache-2.0
//
// What was said about sandboxes (L6): bundles, Kata's state and registrations, read from their
// files and kept by inode and mtime, so that looking again at an unchanged file costs one stat.
// What cannot be read is not gone: the last word that was understood counts (see file_trouble).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/dir.hpp"
#include "base/flat_set.hpp"
#include "identify/recognise.hpp"
#include "model/bundle.hpp"
#include "model/config.hpp"
#include "model/fields.hpp"
#include "nri/pod_book.hpp"
#include "observe/file_trouble.hpp"
#include "observe/kata_config.hpp"
#include "oci/bundle_json.hpp"

namespace kcg {

/// Value: what a changed file means.
struct InputChange {
  std::set<SandboxId> sandboxes;  ///< look at these again
};

/// Resource: see the head of the file. Bounded by Config::Limits.
class InputStore final {
 public:
  InputStore(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}

  /// Reads the bundle again; a directory that is gone is forgotten.
  [[nodiscard]] InputChange bundle_changed(const BundleOrigin& origin);
  /// Reads Kata's state of one sandbox again.
  [[nodiscard]] InputChange state_changed(const SandboxId& id);
  /// Reads again what could not be read and is due; `read_at` says when the next one is.
  [[nodiscard]] InputChange read_again();
  [[nodiscard]] std::optional<Instant> read_at() const;
  /// Drops Kata's state of ids that neither a bundle nor a registration names: its end was missed.
  void drop_stale_states();
  void set_registration(const SandboxId& id, std::optional<Registration> registration);
  /// Kata's configuration.toml, read by the caller.
  void set_kata_config(std::optional<KataConfig> config) { kata_config_ = std::move(config); }
  /// What the engine tells of pods through NRI; of those that nobody else names it stays unread.
  [[nodiscard]] InputChange pods_told(const nri::News& news);
  void set_config(const Config& config) { config_ = config; }

  /// Everything known about one sandbox, with conditions (ForeignContainer, BundleUnreadable).
  [[nodiscard]] Assembled inputs(const SandboxId& id) const;
  /// A bundle or a registration names it.
  [[nodiscard]] bool known(const SandboxId& id) const {
    return claims_.contains(id) || registrations_.contains(id);
  }
  /// The one that the bundle in this directory names; nullopt: none is known there.
  [[nodiscard]] std::optional<SandboxId> sandbox_in(const std::string& directory) const;
  /// Every id that a bundle, a state file that was asked for, or a registration names.
  [[nodiscard]] std::set<SandboxId> ids() const;
  /// All bundles known, by directory.
  [[nodiscard]] std::vector<BundleOrigin> origins() const;
  /// True when no more bundles are taken: a sandbox is given eight on average.
  [[nodiscard]] bool full() const { return bundles_.size() >= config_.limits.max_sandboxes * 8; }

 private:
  struct BundleEntry {
    BundleOrigin::Root root = BundleOrigin::Root::any;
    std::string ns;
    std::string_view directory;  ///< its key in bundles_
    std::string_view id;         ///< the part of it that is BundleOrigin::id
    FileStamp stamp;
    std::uint64_t inode = 0;  ///< of the directory: another one is another life of the id
    std::optional<Packed<Bundle>> bundle;  ///< the last one that was understood
    bool ended = false;                    ///< see Bundle
    FileTrouble trouble;                   ///< with what is there now
    std::optional<SandboxId> claims;       ///< the sandbox that it names
    [[nodiscard]] BundleOrigin origin() const {
      return {root, ns, std::string(id), std::string(directory)};
    }
  };
  /// Value: Kata's own file of a container.
  struct ContainerFile {
    FileStamp stamp;
    std::string state;  ///< "": it says nothing
    bool operator==(const ContainerFile&) const = default;
  };
  using ContainerFiles = std::map<std::string, ContainerFile>;
  struct StateEntry {
    std::size_t path = 0;  ///< its hash, to see that the file is another one
    FileStamp stamp;
    ContainerFiles containers;  ///< Go: of each container
    std::optional<Packed<KataState>> state;
    FlatSet<std::size_t> names;  ///< hashes of its containers, to unpack only what names one
    [[nodiscard]] bool knows(const std::string& container) const;
    FileTrouble trouble;
  };
  /// Made if there is none.
  [[nodiscard]] BundleEntry& entry_of(const BundleOrigin& origin);
  void claim(BundleEntry& entry, std::optional<SandboxId> id, InputChange& change);
  void forget(const std::string& directory, InputChange& change);
  void read_bundle(BundleEntry& entry, const Dir& dir, const FileStamp& stamp, InputChange& change);
  void read_in_vain(BundleEntry& entry, const std::string& problem, const std::string& text,
                    Instant unchanged, InputChange& change);
  void read_side_files(const Dir& dir, Bundle& bundle) const;
  [[nodiscard]] static ContainerFiles read_containers(const Dir& sandbox,
                                                      const ContainerFiles& before);
  bool note_ended(const SandboxId& id, const ContainerFiles& files);
  [[nodiscard]] std::vector<Bundle> unreadable_containers(const SandboxId& id) const;
  /// nullopt: there is no such file (any more).
  [[nodiscard]] std::optional<Instant> unchanged_for(const Dir& dir, const std::string& name,
                                                     bool was_read) const;

  Config config_;
  const Clock& clock_;
  std::map<std::string, BundleEntry, std::less<>> bundles_;  ///< by directory
  std::map<SandboxId, FlatSet<std::string_view>> claims_;    ///< sandbox -> keys of bundles_
  std::map<SandboxId, StateEntry> states_;
  std::set<std::string> troubled_bundles_;  ///< directories
  std::set<SandboxId> troubled_states_;
  std::map<SandboxId, Registration> registrations_;
  nri::PodBook pods_;
  std::optional<KataConfig> kata_config_;
};

}  // namespace kcg
