// SPDX-License-Identifier: Apache-2.0
#include "observe/inputs.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

constexpr std::size_t kSmallFile = 4096;

std::optional<SandboxId> valid(const std::string& text) {
  const auto id = SandboxId::parse(text);
  return id ? std::optional(*id) : std::nullopt;
}

/// Of several sandboxes with the same id, the one whose shim is Kata's counts.
std::optional<std::string> kata_namespace(const SandboxId& id,
                                          const std::vector<Bundle>& claiming) {
  for (const auto& bundle : claiming)
    if (bundle.id == id.str() && names_kata_shim(bundle.shim_binary)) return bundle.ns;
  return std::nullopt;
}

}  // namespace

void InputStore::claim(BundleEntry& entry, std::optional<SandboxId> id, InputChange& change) {
  if (entry.claims) {
    change.sandboxes.insert(*entry.claims);
    const auto it = claims_.find(*entry.claims);
    if (it != claims_.end()) it->second.erase(entry.directory);
    if (it != claims_.end() && it->second.empty()) claims_.erase(it);
  }
  entry.claims = std::move(id);
  if (!entry.claims) return;
  claims_[*entry.claims].insert(entry.directory);
  change.sandboxes.insert(*entry.claims);
}

std::optional<SandboxId> InputStore::sandbox_in(const std::string& directory) const {
  const auto it = bundles_.find(directory);
  return it == bundles_.end() ? std::nullopt : it->second.claims;
}

void InputStore::forget(const std::string& directory, InputChange& change) {
  const auto it = bundles_.find(directory);
  if (it == bundles_.end()) return;
  claim(it->second, std::nullopt, change);
  bundles_.erase(it);
  troubled_bundles_.erase(directory);
}

void InputStore::read_side_files(const Dir& dir, Bundle& bundle) const {
  if (const auto text = dir.read("shim.pid", kSmallFile)) bundle.shim_pid = parse_pid(trim(*text));
  if (const auto text = dir.read("shim-binary-path", kSmallFile))
    bundle.shim_binary = std::string(trim(*text));
}

/// Asked after it was read in vain: a writer or a remover may have come between. What could not
/// even be read says nothing about who writes. By the wall clock, as far as it can be trusted: a
/// time in the future says nothing.
std::optional<Instant> InputStore::unchanged_for(const Dir& dir, const std::string& name,
                                                 bool was_read) const {
  const auto stamp = dir.stamp(name);
  if (!stamp && errnos::no_file(stamp.error().code)) return std::nullopt;
  if (!stamp || !was_read) return Instant(0);
  const std::chrono::nanoseconds written(stamp->mtime_ns);
  const auto age = std::chrono::seconds(clock_.wall_seconds()) - written;
  return std::max(Instant(0), std::chrono::duration_cast<Instant>(age));
}

/// Who is meant is known from the last good text, else from what can be made out of this one; else
/// it stands for itself.
void InputStore::read_in_vain(BundleEntry& entry, const std::string& problem,
                              const std::string& text, Instant unchanged, InputChange& change) {
  entry.trouble.seen(problem, clock_.now(), unchanged);
  troubled_bundles_.emplace(entry.directory);
  if (entry.bundle) {
    change.sandboxes.insert(*entry.claims);
    return;
  }
  auto named = claimed_sandbox(text, entry.root);
  auto owner = named ? valid(*named) : std::nullopt;
  claim(entry, owner ? owner : valid(std::string(entry.id)), change);
  for (const auto& [sandbox, state] : states_)
    if (state.knows(std::string(entry.id))) change.sandboxes.insert(sandbox);
}

void InputStore::read_bundle(BundleEntry& entry, const Dir& dir, const FileStamp& stamp,
                             InputChange& change) {
  const auto text = dir.read("config.json", config_.limits.max_bundle_bytes);
  auto bundle = text ? parse_bundle(*text, entry.origin()) : forward(text.error());
  const bool rewritten = !(entry.stamp == stamp);
  entry.stamp = stamp;
  if (!bundle) {
    const auto unchanged = unchanged_for(dir, "config.json", text.has_value());
    if (!unchanged) return forget(std::string(entry.directory), change);
    return read_in_vain(entry, bundle.error().text, text.value_or(""), *unchanged, change);
  }
  read_side_files(dir, *bundle);
  if (const auto self = dir.stamp()) bundle->directory_id = FileId{self->device, self->inode};
  entry.ended = entry.bundle && entry.ended && !rewritten;
  entry.bundle = Packed(*bundle);
  entry.trouble.over();
  troubled_bundles_.erase(std::string(entry.directory));
  const bool first = !entry.claims;
  claim(entry, valid(bundle->sandbox_id), change);
  // What is known of Kata's state may be that of an earlier life.
  const bool own = bundle->type != BundleType::container;
  if (first && own && entry.claims) change.sandboxes.merge(state_changed(*entry.claims).sandboxes);
}

InputStore::BundleEntry& InputStore::entry_of(const BundleOrigin& origin) {
  const auto [known, fresh] = bundles_.try_emplace(origin.directory);
  auto& entry = known->second;
  if (!fresh) return entry;
  entry.root = origin.root;
  entry.ns = origin.ns;
  entry.directory = known->first;
  if (const auto at = entry.directory.rfind(origin.id); at != std::string_view::npos)
    entry.id = entry.directory.substr(at, origin.id.size());
  return entry;
}

InputChange InputStore::bundle_changed(const BundleOrigin& origin) {
  InputChange change;
  const auto dir = Dir::open(origin.directory);
  const auto place = dir ? dir->stamp() : forward(dir.error());
  const auto stamp = place ? dir->stamp("config.json") : forward(place.error());
  const auto known = bundles_.find(origin.directory);
  // No directory or no file (yet): nothing is said. A later event tells more.
  const bool gone = !stamp && errnos::no_file(stamp.error().code);
  const bool another = place && known != bundles_.end() && known->second.inode != 0 &&
                       known->second.inode != place->inode;
  if (gone || another) forget(origin.directory, change);
  if (gone || (!bundles_.contains(origin.directory) && full())) return change;
  auto& entry = entry_of(origin);
  if (place) entry.inode = place->inode;
  if (!stamp) {
    read_in_vain(entry, stamp.error().text, "", Instant(0), change);
    return change;
  }
  if (!entry.bundle || entry.trouble.any() || !(entry.stamp == *stamp)) {
    read_bundle(entry, *dir, *stamp, change);
    return change;
  }
  auto bundle = entry.bundle->whole();
  read_side_files(*dir, bundle);
  const auto before = std::exchange(entry.bundle, Packed(bundle));
  if (entry.claims && before != entry.bundle) change.sandboxes.insert(*entry.claims);
  return change;
}

InputChange InputStore::read_again() {
  InputChange change;
  const auto now = clock_.now();
  const auto due = [now](const FileTrouble& trouble) {
    return trouble.read_again() && *trouble.read_again() <= now;
  };
  const auto bundles = troubled_bundles_;
  for (const auto& directory : bundles)
    if (const auto& entry = bundles_.at(directory); due(entry.trouble))
      change.sandboxes.merge(bundle_changed(entry.origin()).sandboxes);
  const auto states = troubled_states_;
  for (const auto& id : states)
    if (due(states_.at(id).trouble)) change.sandboxes.merge(state_changed(id).sandboxes);
  return change;
}

std::optional<Instant> InputStore::read_at() const {
  std::optional<Instant> at;
  const auto take = [&at](const FileTrouble& trouble) {
    if (trouble.read_again()) at = std::min(at.value_or(Instant::max()), *trouble.read_again());
  };
  for (const auto& directory : troubled_bundles_) take(bundles_.at(directory).trouble);
  for (const auto& id : troubled_states_) take(states_.at(id).trouble);
  return at;
}

/// Containers of which nothing was ever understood, but whose they are: they named the sandbox, or
/// Kata's state names them.
std::vector<Bundle> InputStore::unreadable_containers(const SandboxId& id) const {
  std::vector<Bundle> found;
  const auto state = states_.find(id);
  const auto kata_knows = [&](const std::string& container) {
    return state != states_.end() && state->second.knows(container);
  };
  for (const auto& directory : troubled_bundles_) {
    const auto& entry = bundles_.at(directory);
    if (entry.bundle || entry.id == id.str() || !entry.trouble.told(clock_.now())) continue;
    if (entry.claims != id && !kata_knows(std::string(entry.id))) continue;
    auto& bundle = found.emplace_back();
    bundle.id = entry.id;
    bundle.directory = directory;
    bundle.ns = entry.ns;
    bundle.engine = entry.root == BundleOrigin::Root::crio ? Engine::crio : Engine::containerd;
    bundle.type = BundleType::container;
    bundle.sandbox_id = id.str();
    bundle.unreadable = entry.trouble.text();
  }
  return found;
}

void InputStore::set_registration(const SandboxId& id, std::optional<Registration> registration) {
  if (registration)
    registrations_[id] = std::move(*registration);
  else
    registrations_.erase(id);
}

InputChange InputStore::pods_told(const nri::News& news) {
  InputChange change{pods_.take(news)};
  std::erase_if(change.sandboxes, [this](const SandboxId& id) { return !known(id); });
  return change;
}

Assembled InputStore::inputs(const SandboxId& id) const {
  std::vector<Bundle> claiming;
  std::vector<Condition> problems;
  bool unreadable = false;
  const auto now = clock_.now();
  const auto tell = [&](const FileTrouble& trouble) {
    if (trouble.told(now)) problems.push_back({ConditionName::bundle_unreadable, trouble.text()});
  };
  if (const auto it = claims_.find(id); it != claims_.end()) {
    for (const auto& directory : it->second) {
      const auto& entry = bundles_.find(directory)->second;
      if (entry.bundle) claiming.emplace_back(entry.bundle->whole()).ended = entry.ended;
      if (entry.bundle || entry.id == id.str()) tell(entry.trouble);
      unreadable = unreadable || entry.id == id.str();
    }
  }
  for (auto& bundle : unreadable_containers(id)) claiming.push_back(std::move(bundle));
  auto assembled = assemble(id, claiming, kata_namespace(id, claiming));
  assembled.inputs.unreadable = !assembled.inputs.bundle && unreadable;
  if (const auto it = states_.find(id); it != states_.end()) {
    if (it->second.state) assembled.inputs.kata = it->second.state->whole();
    tell(it->second.trouble);
  }
  if (const auto it = registrations_.find(id); it != registrations_.end())
    assembled.inputs.registration = it->second;
  if (const auto* pod = pods_.find(id)) assembled.inputs.node = *pod;
  if (kata_config_) {
    assembled.inputs.kata_config_only = kata_config_->only;
    assembled.inputs.kata_config_where = kata_config_->where;
    assembled.inputs.kata_config_pins = kata_config_->pins;
    assembled.inputs.kata_config_pins_where = kata_config_->pins_where;
    assembled.inputs.kata_default_memory = kata_config_->default_memory;
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
  for (const auto& [directory, entry] : bundles_) found.push_back(entry.origin());
  return found;
}

}  // namespace kcg
