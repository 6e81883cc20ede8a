// SPDX-License-Identifier: Apache-2.0
//
// InputStore: Kata's own state of sandboxes.
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "model/errnos.hpp"
#include "observe/inputs.hpp"
#include "observe/kata_files.hpp"

namespace kcg {

namespace {

constexpr std::size_t kStateFile = std::size_t{4} << 20;
constexpr std::string_view kStopped = "stopped";

/// Directory and name of an absolute file path.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

FlatSet<std::size_t> hashes_of(const std::map<std::string, Resources>& containers) {
  std::vector<std::size_t> hashes;
  for (const auto& [id, resources] : containers) hashes.push_back(std::hash<std::string>()(id));
  return FlatSet<std::size_t>(hashes);
}

}  // namespace

/// The Go shim keeps a file for each container in a directory of its own beside the sandbox's. One
/// that cannot be read says nothing, and is read again: it is half-written, and its end is another
/// event.
InputStore::ContainerFiles InputStore::read_containers(const Dir& sandbox,
                                                       const ContainerFiles& before) {
  ContainerFiles files;
  const auto entries = sandbox.list();
  for (const auto& entry : entries.value_or(std::vector<DirEntry>{})) {
    if (!entry.directory) continue;
    const auto name = entry.name + "/persist.json";
    const auto stamp = sandbox.stamp(name);
    if (!stamp) continue;
    auto& file = files[entry.name];
    const auto known = before.find(entry.name);
    if (known != before.end()) file = known->second;
    if (file.stamp == *stamp) continue;
    const auto text = sandbox.read(name, kStateFile);
    auto state = text ? parse_container_state(*text) : forward(text.error());
    file = state ? ContainerFile{*stamp, std::move(*state)} : ContainerFile{};
  }
  return files;
}

bool InputStore::StateEntry::knows(const std::string& container) const {
  return state && names.contains(std::hash<std::string>()(container)) &&
         state->whole().containers.contains(container);
}

/// Kata removes a container's file before the engine removes its bundle: once seen stopped, it
/// stays so until then, or until Kata says otherwise. Returns whether that is news.
bool InputStore::note_ended(const SandboxId& id, const ContainerFiles& files) {
  const auto it = claims_.find(id);
  if (it == claims_.end()) return false;
  bool news = false;
  for (const auto& directory : it->second) {
    auto& entry = bundles_.find(directory)->second;
    const auto file = entry.bundle ? files.find(std::string(entry.id)) : files.end();
    if (file == files.end() || file->second.state.empty()) continue;
    const bool ended = file->second.state == kStopped;
    news = std::exchange(entry.ended, ended) != ended || news;
  }
  return news;
}

InputChange InputStore::state_changed(const SandboxId& id) {
  InputChange change;
  for (const auto& file : kata_state_files(config_.discovery, id)) {
    const auto [directory, name] = split_path(file.path);
    const auto dir = Dir::open(directory);
    const auto stamp = dir ? dir->stamp(name) : forward(dir.error());
    if (!stamp && errnos::no_file(stamp.error().code)) continue;
    const auto path = std::hash<std::string>()(file.path);
    auto& entry = states_[id];
    auto containers = stamp && file.go ? read_containers(*dir, entry.containers) : ContainerFiles{};
    const bool same =
        entry.state && !entry.trouble.any() && stamp && entry.path == path && entry.stamp == *stamp;
    if (same && entry.containers == containers) return change;
    Result<std::string> text("");
    if (!same) text = stamp ? dir->read(name, kStateFile) : forward(stamp.error());
    auto state = same ? Result<KataState>(entry.state->whole())
                      : text.and_then([&](const std::string& read) {
                          return parse_kata_state(read, file.go);
                        });
    entry.path = path;
    if (stamp) entry.stamp = *stamp;
    if (!state) {
      const auto unchanged = dir ? unchanged_for(*dir, name, text.has_value()) : Instant(0);
      if (!unchanged) continue;  // removed since
      entry.trouble.seen(file.path + ": " + state.error().text, clock_.now(), *unchanged);
      troubled_states_.insert(id);
      change.sandboxes.insert(id);
      return change;
    }
    const bool troubled = entry.trouble.any();
    entry.trouble.over();
    troubled_states_.erase(id);
    entry.containers = std::move(containers);
    state->file = file.path;
    state->stopped.clear();
    for (const auto& [container, own] : entry.containers)
      if (own.state == kStopped) state->stopped.insert(container);
    const bool ended = note_ended(id, entry.containers);
    const auto before = std::exchange(entry.state, Packed(*state));
    entry.names = hashes_of(state->containers);
    if (troubled || ended || before != entry.state) change.sandboxes.insert(id);
    return change;
  }
  troubled_states_.erase(id);
  if (states_.erase(id) > 0) change.sandboxes.insert(id);
  return change;
}

void InputStore::drop_stale_states() {
  std::erase_if(states_, [&](const auto& entry) {
    if (known(entry.first)) return false;
    troubled_states_.erase(entry.first);
    return true;
  });
}

}  // namespace kcg
