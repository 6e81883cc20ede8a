// SPDX-License-Identifier: Apache-2.0
#include "observe/inputs.hpp"

#include "base/text.hpp"
#include "observe/kata_files.hpp"

namespace kcg {

namespace {

constexpr std::size_t kSmallFile = 4096;
constexpr std::size_t kStateFile = std::size_t{4} << 20;

/// The sandbox that a bundle names; an unreadable bundle stands for itself.
std::optional<SandboxId> claimed(const BundleOrigin& origin, const std::optional<Bundle>& bundle) {
  const auto id = SandboxId::parse(bundle ? bundle->sandbox_id : origin.id);
  return id ? std::optional(*id) : std::nullopt;
}

/// Directory and name of an absolute file path.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

/// The Go shim keeps a file for each container in a directory of its own beside the sandbox's.
std::map<std::string, FileStamp> container_stamps(const Dir& sandbox) {
  std::map<std::string, FileStamp> stamps;
  const auto entries = sandbox.list();
  for (const auto& entry : entries.value_or(std::vector<DirEntry>{}))
    if (const auto stamp =
            entry.directory ? sandbox.stamp(entry.name + "/persist.json") : forward(Error{}))
      stamps.emplace(entry.name, *stamp);
  return stamps;
}

/// A file that cannot be read stops nobody: it is half-written, and its end is another event.
std::set<std::string> stopped_containers(const Dir& sandbox,
                                         const std::map<std::string, FileStamp>& files) {
  std::set<std::string> stopped;
  for (const auto& [id, stamp] : files) {
    const auto text = sandbox.read(id + "/persist.json", kStateFile);
    const auto state = text ? parse_container_state(*text) : forward(text.error());
    if (state && *state == "stopped") stopped.insert(id);
  }
  return stopped;
}

/// Of several sandboxes with the same id, the one whose shim is Kata's counts.
std::optional<std::string> kata_namespace(const SandboxId& id,
                                          const std::vector<Bundle>& claiming) {
  for (const auto& bundle : claiming)
    if (bundle.id == id.str() && names_kata_shim(bundle.shim_binary)) return bundle.ns;
  return std::nullopt;
}

}  // namespace

void InputStore::drop_claim(const BundleEntry& entry, InputChange& change) {
  if (!entry.claims) return;
  change.sandboxes.insert(*entry.claims);
  const auto it = claims_.find(*entry.claims);
  if (it == claims_.end()) return;
  it->second.erase(entry.origin.directory);
  if (it->second.empty()) claims_.erase(it);
}

void InputStore::read_side_files(const Dir& dir, Bundle& bundle) const {
  if (const auto text = dir.read("shim.pid", kSmallFile)) bundle.shim_pid = parse_pid(trim(*text));
  if (const auto text = dir.read("shim-binary-path", kSmallFile))
    bundle.shim_binary = std::string(trim(*text));
}

InputChange InputStore::bundle_changed(const BundleOrigin& origin) {
  InputChange change;
  const auto known = bundles_.find(origin.directory);
  const auto dir = Dir::open(origin.directory);
  const auto stamp = dir ? dir->stamp("config.json") : forward(dir.error());
  if (!stamp) {
    // No directory or no file (yet): nothing is said. A later event tells more.
    if (known != bundles_.end()) {
      drop_claim(known->second, change);
      bundles_.erase(known);
    }
    return change;
  }
  if (known == bundles_.end() && full()) return change;
  auto& entry = bundles_[origin.directory];
  if (entry.bundle && entry.stamp == *stamp) {
    const auto before = *entry.bundle;
    read_side_files(*dir, *entry.bundle);
    if (entry.claims && !(before == *entry.bundle)) change.sandboxes.insert(*entry.claims);
    return change;
  }
  drop_claim(entry, change);
  entry.origin = origin;
  entry.stamp = *stamp;
  const auto text = dir->read("config.json", config_.limits.max_bundle_bytes);
  auto bundle = text ? parse_bundle(*text, origin) : forward(text.error());
  entry.problem = bundle ? "" : bundle.error().text;
  entry.bundle = bundle ? std::optional(std::move(*bundle)) : std::nullopt;
  if (entry.bundle) read_side_files(*dir, *entry.bundle);
  change.unreadable = !entry.bundle;
  entry.claims = claimed(origin, entry.bundle);
  if (entry.claims) {
    claims_[*entry.claims].insert(origin.directory);
    change.sandboxes.insert(*entry.claims);
  }
  return change;
}

InputChange InputStore::state_changed(const SandboxId& id) {
  InputChange change;
  for (const auto& file : kata_state_files(config_.discovery, id)) {
    const auto [directory, name] = split_path(file.path);
    const auto dir = Dir::open(directory);
    const auto stamp = dir ? dir->stamp(name) : forward(dir.error());
    if (!stamp) continue;
    auto& entry = states_[id];
    auto containers = file.go ? container_stamps(*dir) : std::map<std::string, FileStamp>{};
    const bool same = entry.path == file.path && entry.stamp == *stamp;
    if (entry.state && same && entry.containers == containers) return change;
    entry.path = file.path;
    entry.stamp = *stamp;
    entry.containers = std::move(containers);
    const auto text = dir->read(name, kStateFile);
    auto state = text ? parse_kata_state(*text, file.go) : forward(text.error());
    entry.problem = state ? "" : file.path + ": " + state.error().text;
    if (state) entry.state = std::move(*state);
    if (state) entry.state->stopped = stopped_containers(*dir, entry.containers);
    change.unreadable = !state;
    change.sandboxes.insert(id);
    return change;
  }
  if (states_.erase(id) > 0) change.sandboxes.insert(id);
  return change;
}

void InputStore::set_registration(const SandboxId& id, std::optional<Registration> registration) {
  if (registration)
    registrations_[id] = std::move(*registration);
  else
    registrations_.erase(id);
}

Assembled InputStore::inputs(const SandboxId& id) const {
  std::vector<Bundle> claiming;
  std::vector<Condition> problems;
  if (const auto it = claims_.find(id); it != claims_.end()) {
    for (const auto& directory : it->second) {
      const auto& entry = bundles_.at(directory);
      if (entry.bundle) claiming.push_back(*entry.bundle);
      if (!entry.problem.empty())
        problems.push_back({ConditionName::bundle_unreadable, entry.problem});
    }
  }
  auto assembled = assemble(id, claiming, kata_namespace(id, claiming));
  if (const auto it = states_.find(id); it != states_.end()) {
    assembled.inputs.kata = it->second.state;
    if (!it->second.problem.empty())
      problems.push_back({ConditionName::bundle_unreadable, it->second.problem});
  }
  if (const auto it = registrations_.find(id); it != registrations_.end())
    assembled.inputs.registration = it->second;
  if (kata_config_) {
    assembled.inputs.kata_config_only = kata_config_->only;
    assembled.inputs.kata_config_where = kata_config_->where;
  }
  assembled.conditions.insert(assembled.conditions.end(), problems.begin(), problems.end());
  return assembled;
}

std::set<SandboxId> InputStore::ids() const {
  std::set<SandboxId> found;
  for (const auto& [id, directories] : claims_) found.insert(id);
  for (const auto& [id, registration] : registrations_) found.insert(id);
  return found;
}

std::vector<BundleOrigin> InputStore::origins() const {
  std::vector<BundleOrigin> found;
  for (const auto& [directory, entry] : bundles_) found.push_back(entry.origin);
  return found;
}

}  // namespace kcg
