// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/path_watch.hpp"

#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/dir.hpp"

namespace kcg {

namespace {

constexpr int kAncestor = -1;
constexpr int kBase = 0;

// IN_MASK_ADD: two patterns may meet in one directory, and neither must narrow the other's view.
constexpr std::uint32_t kAlways = IN_ONLYDIR | IN_MASK_ADD | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kForDirectories = kAlways | IN_CREATE | IN_MOVED_TO;
constexpr std::uint32_t kForFiles =
    kAlways | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_EXCL_UNLINK;

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string join(const std::string& directory, std::string_view name) {
  return (directory == "/" ? "" : directory) + "/" + std::string(name);
}

/// The component that leads from `above` towards `path`.
std::string_view next_component(std::string_view path, std::string_view above) {
  path.remove_prefix(above == "/" ? 1 : above.size() + 1);
  return path.substr(0, path.find('/'));
}

bool within(const std::string& path, const std::string& above) {
  return path == above || path.starts_with(above + "/");
}

}  // namespace

Result<std::unique_ptr<PathWatch>> PathWatch::create(Loop& loop, std::vector<PathPattern> patterns,
                                                     Changed changed, Lost lost) {
  std::unique_ptr<PathWatch> self(
      new PathWatch(std::move(patterns), std::move(changed), std::move(lost)));
  auto inotify =
      Inotify::create(loop, [raw = self.get()](int wd, std::uint32_t mask, std::string_view name) {
        raw->on_event(wd, mask, name);
      });
  if (!inotify) return forward(inotify.error());
  self->inotify_ = std::move(*inotify);
  for (std::size_t i = 0; i < self->patterns_.size(); ++i) self->find_base(i);
  return self;
}

void PathWatch::on_event(int wd, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    for (std::size_t i = 0; i < patterns_.size(); ++i) find_base(i);
    return lost_();
  }
  if ((mask & IN_IGNORED) != 0) return leave(wd);
  const auto found = nodes_.find(wd);
  if (found == nodes_.end()) return;
  const auto nodes = found->second;  // a copy: handling one may change the set
  for (const auto& node : nodes) on_node_event(node, mask, name);
}

void PathWatch::on_node_event(const Node& node, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_MOVE_SELF) != 0) {
    // Its path, and those of all below it, are wrong now; each removal comes back as IN_IGNORED.
    for (const auto& [below, wd] : watches_)
      if (within(below.path, node.path)) inotify_->remove(wd);
    return;
  }
  if (node.depth == kAncestor) {
    if (name == next_component(patterns_[node.pattern].base, node.path)) find_base(node.pattern);
  } else if (last_level(node)) {
    // A file that was only created is still being written.
    const bool whole = (mask & kForFiles & ~kAlways) != 0;
    if (whole && patterns_[node.pattern].files.contains(name)) changed_(node.pattern, node.path);
  } else if ((mask & IN_ISDIR) != 0 && wanted(node, name)) {
    enter({node.pattern, node.depth + 1, join(node.path, name)});
  }
}

/// Watches the base, or the nearest directory above it that exists.
void PathWatch::find_base(std::size_t pattern) {
  const std::string& base = patterns_[pattern].base;
  const auto old = watches_;
  for (const auto& [node, wd] : old)
    if (node.pattern == pattern && node.depth == kAncestor) {
      watches_.erase(node);
      nodes_[wd].erase(node);
      if (nodes_[wd].empty()) {
        nodes_.erase(wd);
        inotify_->remove(wd);
      }
    }
  for (std::string path = base;;) {
    if (path == base) {
      if (enter({pattern, kBase, base})) return;
    } else if (add({pattern, kAncestor, path})) {
      // It may have been made while we looked further up.
      const auto next = join(path, next_component(base, path));
      if (!Dir::open(next)) return;
      path = next;
      continue;
    }
    if (path == "/") return;
    path = parent_of(path);
  }
}

/// Watches a directory and all that the pattern wants below it.
bool PathWatch::enter(const Node& node) {
  const bool known = watches_.contains(node);
  if (!add(node)) return false;
  if (last_level(node)) {
    if (!known) changed_(node.pattern, node.path);
    return true;
  }
  const auto dir = Dir::open(node.path);
  const auto entries = dir ? dir->list() : forward(dir.error());
  if (!entries) return true;  // it has just gone: IN_IGNORED follows
  for (const auto& entry : *entries)
    if (entry.directory && wanted(node, entry.name))
      (void)enter({node.pattern, node.depth + 1, join(node.path, entry.name)});  // ignored: gone
  return true;
}

bool PathWatch::add(const Node& node) {
  if (watches_.size() >= kMaxDirectories) {
    problem_ =
        fmt::format("more than {} directories, {} is not watched", kMaxDirectories, node.path);
    return false;
  }
  const std::uint32_t mask = last_level(node) ? kForFiles : kForDirectories;
  const std::uint32_t links = node.depth > kBase ? IN_DONT_FOLLOW : 0U;  // above: the operator's
  // One directory may be watched for its files and for what is below it.
  const auto wd = inotify_->add(node.path, mask | links | IN_MASK_ADD);
  if (!wd) {
    const int code = wd.error().code;
    if (code != ENOENT && code != ENOTDIR) problem_ = wd.error().text;
    return false;
  }
  nodes_[*wd].insert(node);
  watches_[node] = *wd;
  return true;
}

/// The kernel has dropped a watch, because its directory is gone.
void PathWatch::leave(int wd) {
  const auto found = nodes_.extract(wd);
  if (found.empty()) return;
  for (const auto& node : found.mapped()) {
    watches_.erase(node);
    if (last_level(node)) changed_(node.pattern, node.path);
    if (node.depth <= kBase) find_base(node.pattern);
  }
}

bool PathWatch::wanted(const Node& node, std::string_view name) const {
  const auto& level = patterns_[node.pattern].levels[static_cast<std::size_t>(node.depth)];
  return level == "*" || level == name;
}

bool PathWatch::last_level(const Node& node) const {
  return node.depth == static_cast<int>(patterns_[node.pattern].levels.size());
}

}  // namespace kcg
