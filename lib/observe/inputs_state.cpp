// SPDX-License-Identifier: Apache-2.0
//
// InputStore: Kata's own state of sandboxes.
#include <utility>

#include "base/text.hpp"
#include "model/errnos.hpp"
#include "observe/inputs.hpp"
#include "observe/kata_files.hpp"

namespace kcg {

namespace {

constexpr std::size_t kStateFile = std::size_t{4} << 20;

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

/// What each container's own file says. One that cannot be read says nothing: it is half-written,
/// and its end is another event.
std::map<std::string, std::string> container_states(const Dir& sandbox,
                                                    const std::map<std::string, FileStamp>& files) {
  std::map<std::string, std::string> states;
  for (const auto& [id, stamp] : files) {
    const auto text = sandbox.read(id + "/persist.json", kStateFile);
    auto state = text ? parse_container_state(*text) : forward(text.error());
    if (state && !state->empty()) states.emplace(id, std::move(*state));
  }
  return states;
}

std::set<std::string> stopped_in(const std::map<std::string, std::string>& states) {
  std::set<std::string> stopped;
  for (const auto& [id, state] : states)
    if (state == "stopped") stopped.insert(id);
  return stopped;
}

}  // namespace

/// Kata removes a container's file before the engine removes its bundle: once seen stopped, it
/// stays so until then, or until Kata says otherwise. Returns whether that is news.
bool InputStore::note_ended(const SandboxId& id, const std::map<std::string, std::string>& states) {
  const auto it = claims_.find(id);
  if (it == claims_.end()) return false;
  bool news = false;
  for (const auto& directory : it->second) {
    auto& bundle = bundles_.at(directory).bundle;
    const auto state = bundle ? states.find(bundle->id) : states.end();
    if (state == states.end()) continue;
    const bool ended = state->second == "stopped";
    news = std::exchange(bundle->ended, ended) != ended || news;
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
    auto& entry = states_[id];
    auto containers =
        stamp && file.go ? container_stamps(*dir) : std::map<std::string, FileStamp>{};
    const bool same = stamp && entry.path == file.path && entry.stamp == *stamp;
    if (entry.state && same && !entry.trouble.any() && entry.containers == containers)
      return change;
    const auto text = stamp ? dir->read(name, kStateFile) : forward(stamp.error());
    auto state = text ? parse_kata_state(*text, file.go) : forward(text.error());
    entry.path = file.path;
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
    const auto told = container_states(*dir, entry.containers);
    state->stopped = stopped_in(told);
    const bool ended = note_ended(id, told);
    if (troubled || ended || entry.state != *state) change.sandboxes.insert(id);
    entry.state = std::move(*state);
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
