// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/path_watch.hpp"

#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>

#include "base/dir.hpp"

namespace kcg {

namespace {

constexpr int kAbove = -1;
constexpr int kBase = 0;

// IN_MASK_ADD: two patterns may meet in one directory, and neither must narrow the other's view.
constexpr std::uint32_t kAlways = IN_ONLYDIR | IN_MASK_ADD | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kForDirectories = kAlways | IN_CREATE | IN_MOVED_TO;
constexpr std::uint32_t kForFiles =
    kAlways | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_EXCL_UNLINK;

constexpr const char* kMissedPaths =
    "what is not watched is found when everything is looked at again (reconcile.interval)";

std::string join(const std::string& directory, std::string_view name) {
  return (directory == "/" ? "" : directory) + "/" + std::string(name);
}

/// The component that leads from `above` towards `path`.
std::string_view next_component(std::string_view path, std::string_view above) {
  path.remove_prefix(std::min(path.find_first_not_of('/', above.size()), path.size()));
  return path.substr(0, path.find('/'));
}

/// The directories that lead to a path, from the root downwards, spelt as in the path.
std::vector<std::string> directories_above(const std::string& path) {
  std::vector<std::string> all = {"/"};
  for (std::size_t slash = 1; (slash = path.find('/', slash)) != std::string::npos; ++slash)
    if (path[slash - 1] != '/' && path.find_first_not_of('/', slash) != std::string::npos)
      all.push_back(path.substr(0, slash));
  return all;
}

bool within(const std::string& path, const std::string& above) {
  return path == above || path.starts_with(join(above, ""));
}

}  // namespace

PathWatch::PathWatch(Loop& loop, std::vector<PathPattern> patterns, Changed changed, Lost lost,
                     TellHealth tell)
    : patterns_(std::move(patterns)),
      changed_(std::move(changed)),
      lost_(std::move(lost)),
      shortage_(loop, std::move(tell), kMissedPaths, [this] { return retry(); }),
      inotify_(
          loop,
          [this](int wd, std::uint32_t mask, std::string_view name) { on_event(wd, mask, name); },
          [this] { tell_noted(); }) {
  recheck();
}

void PathWatch::recheck() {
  for (std::size_t i = 0; i < patterns_.size(); ++i) follow_base(i);
  tell_noted();
}

void PathWatch::on_event(int wd, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return rebuild();
  if ((mask & IN_IGNORED) != 0) return leave(wd);
  for (const auto& node : nodes_of(wd)) on_node_event(node, mask, name);
}

/// A copy: handling one may change the rest.
std::vector<PathWatch::Node> PathWatch::nodes_of(int wd) const {
  std::vector<Node> nodes;
  const auto [first, last] = nodes_.equal_range(wd);
  for (auto it = first; it != last; ++it) nodes.push_back(*it->second);
  return nodes;
}

void PathWatch::on_node_event(const Node& node, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_MOVE_SELF) != 0) {
    // Its path, and those of all below it, are wrong now; each removal comes back as IN_IGNORED.
    for (const auto& [below, wd] : watches_)
      if (within(below.path, node.path)) inotify_.remove(wd);
    return;
  }
  if (node.depth == kAbove) {
    if (name == next_component(patterns_[node.pattern].base, node.path)) follow_base(node.pattern);
  } else if (last_level(node)) {
    // A file that was only created is still being written.
    const bool whole = (mask & files_mask(node.pattern) & ~kAlways) != 0;
    if (whole && patterns_[node.pattern].files.contains(name)) note(node);
  } else if ((mask & IN_ISDIR) != 0 && wanted(node, name)) {
    look_again({node.pattern, node.depth + 1, join(node.path, name)});
  }
}

/// Watches all directories that lead to the base, and the base: any of them may be made, moved,
/// replaced, or be a link that points elsewhere by now.
void PathWatch::follow_base(std::size_t pattern) {
  const std::string& base = patterns_[pattern].base;
  for (const auto& path : directories_above(base))
    if (add({pattern, kAbove, path}) == Added::gone) return drop_within(pattern, path);
  look_again({pattern, kBase, base});
}

/// A directory that may be there, may be another one, or may be gone.
void PathWatch::look_again(const Node& node) {
  const bool listed = !refused_.contains(node) && before_.empty();
  const auto how = add(node);
  if (how == Added::gone)
    drop_within(node.pattern, node.path);
  else if (how != Added::known || !listed)
    enter(node, how);
}

/// All that the pattern wants below a directory.
void PathWatch::enter(const Node& node, Added how) {
  if (last_level(node)) {
    if (how != Added::known) note(node);
    return;
  }
  const auto dir = Dir::open(node.path);
  const auto entries = dir ? dir->list() : forward(dir.error());
  if (!entries && entries.error().code != ENOENT && entries.error().code != ENOTDIR)
    (void)refuse(node, entries.error());
  if (!entries) return;  // it has just gone, which will be told; or it is tried again
  for (const auto& entry : *entries)
    if (entry.directory && wanted(node, entry.name))
      look_again({node.pattern, node.depth + 1, join(node.path, entry.name)});
}

PathWatch::Added PathWatch::add(const Node& node) {
  const auto known = watches_.find(node);
  if (known == watches_.end() && watches_.size() >= kMaxDirectories)
    return refuse(node, Error{0, fmt::format("more than {} directories, {} is not watched",
                                             kMaxDirectories, node.path)});
  const std::uint32_t mask = last_level(node) ? files_mask(node.pattern) : kForDirectories;
  const std::uint32_t links = node.depth > kBase ? IN_DONT_FOLLOW : 0U;  // above: the operator's
  const auto wd = inotify_.add(node.path, mask | links);
  if (!wd) {
    const int code = wd.error().code;
    if (code != ENOENT && code != ENOTDIR && code != ELOOP) return refuse(node, wd.error());
    refused_.erase(node);
    return Added::gone;
  }
  refused_.erase(node);
  if (known != watches_.end() && known->second == *wd) return Added::known;
  if (known != watches_.end()) drop_within(node.pattern, node.path);  // another stands here now
  const auto added = watches_.try_emplace(node, *wd).first;
  nodes_.emplace(*wd, &added->first);
  const auto before = before_.find(node);
  return before != before_.end() && before->second == *wd ? Added::known : Added::fresh;
}

PathWatch::Added PathWatch::refuse(const Node& node, const Error& why) {
  refusal_ = why;
  if (refused_.size() < kMaxDirectories)
    refused_.insert(node);
  else
    crowded_ = true;
  shortage_.begin(why);
  return Added::refused;
}

/// The kernel has dropped a watch, because its directory is gone, moved or unmounted. Another one
/// may stand at its path by now.
void PathWatch::leave(int wd) {
  const auto nodes = nodes_of(wd);
  for (const auto& node : nodes) watches_.erase(node);
  nodes_.erase(wd);
  for (const auto& node : nodes) {
    if (last_level(node)) note(node);
    if (node.depth <= kBase)
      follow_base(node.pattern);
    else
      look_again(node);
  }
}

/// What was watched under this path is not there any more, or cannot be reached by it. Others of
/// the pattern are not looked at: they may be many.
void PathWatch::drop_within(std::size_t pattern, const std::string& path) {
  const int last = static_cast<int>(patterns_[pattern].levels.size());
  const auto below = join(path, "");
  for (int depth = kAbove; depth <= last; ++depth) {
    if (const auto it = watches_.find({pattern, depth, path}); it != watches_.end()) drop(it);
    for (auto it = watches_.lower_bound({pattern, depth, below}); it != watches_.end();) {
      const auto& node = it->first;
      if (node.pattern != pattern || node.depth != depth || !node.path.starts_with(below)) break;
      drop(it++);
    }
  }
  std::erase_if(refused_, [&](const Node& node) {
    return node.pattern == pattern && node.path.starts_with(below);
  });
}

void PathWatch::drop(std::map<Node, int>::iterator it) {
  const int wd = it->second;
  if (last_level(it->first)) note(it->first);
  const auto [first, last] = nodes_.equal_range(wd);
  const auto of_it = [&](const auto& node) { return node.second == &it->first; };
  if (const auto node = std::find_if(first, last, of_it); node != last) nodes_.erase(node);
  watches_.erase(it);
  if (!nodes_.contains(wd)) inotify_.remove(wd);
}

/// Events were lost, also those that tell of ends.
void PathWatch::rebuild() {
  before_ = std::exchange(watches_, {});
  nodes_.clear();
  refused_.clear();
  for (std::size_t i = 0; i < patterns_.size(); ++i) follow_base(i);
  for (const auto& [node, wd] : std::exchange(before_, {})) {
    if (watches_.contains(node)) continue;
    if (last_level(node)) note(node);
    if (!nodes_.contains(wd)) inotify_.remove(wd);
  }
  lost_();
}

Status PathWatch::retry() {
  if (std::exchange(crowded_, false)) {
    rebuild();
  } else {
    refusal_.reset();
    for (const auto& node : std::set<Node>(refused_)) {
      if (node.depth == kAbove)
        follow_base(node.pattern);
      else
        look_again(node);
      if (refusal_) break;  // what there is no room for there is no room for others
    }
  }
  tell_noted();
  if (!refused_.empty() || crowded_) return forward(refusal_.value_or(Error{}));
  return {};
}

void PathWatch::note(const Node& node) {
  auto told = node.path;
  for (unsigned i = 0; i < patterns_[node.pattern].above; ++i) told.resize(told.rfind('/'));
  noted_.insert(std::move(told));
}

void PathWatch::tell_noted() {
  for (const auto& directory : std::exchange(noted_, {})) changed_(directory);
}

bool PathWatch::wanted(const Node& node, std::string_view name) const {
  const auto& level = patterns_[node.pattern].levels[static_cast<std::size_t>(node.depth)];
  return level == "*" || level == name;
}

std::uint32_t PathWatch::files_mask(std::size_t pattern) const {
  return patterns_[pattern].sockets ? kForFiles | IN_CREATE : kForFiles;
}

bool PathWatch::last_level(const Node& node) const {
  return node.depth == static_cast<int>(patterns_[node.pattern].levels.size());
}

}  // namespace kcg
