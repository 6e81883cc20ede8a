// SPDX-License-Identifier: Apache-2.0
#include "cgroup/kernel_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "cgroup/device_programs.hpp"

namespace kcg {

namespace {

/// The largest control file that is worth reading: cgroup.procs of a group with very many tasks.
constexpr std::size_t kMaxControlFile = std::size_t{16} << 20;
/// Directories that are held at once: those of a sandbox in eight hierarchies. Where descriptors
/// are short there are none: a look without them takes longer, one without files sees nothing.
constexpr std::size_t kMostHeld = 64;

/// "'memory:/pod/x' memory.max=123: No space left on device"; `what` may be empty.
tl::unexpected<Error> fail_group(int code, const GroupRef& group, std::string_view what) {
  return fail(code, "'{}:{}'{}{}: {}", group.hierarchy.str(), group.path.str(),
              what.empty() ? "" : " ", what, errno_text(code));
}

GroupRef parent_of(const GroupRef& group) { return {group.hierarchy, group.path.parent()}; }

std::string path_of(const GroupRef& group, const std::string& file) {
  return group.path.is_root() ? file : group.path.relative() + "/" + file;
}

/// As read() gives it: without the newline at its end.
Result<std::string> contents(Result<std::string> text, const GroupRef& group,
                             const std::string& file) {
  if (!text) return fail_group(text.error().code, group, file);
  if (!text->empty() && text->back() == '\n') text->pop_back();
  return text;
}

/// Repeats `call` while a signal interrupts it; an errno, or 0.
template <class Call>
int errno_of(Call call) {
  for (;;) {
    if (call() >= 0) return 0;
    const int code = errno;
    if (code != EINTR) return code;
  }
}

/// nullopt: the directory has no such attribute.
Result<std::optional<std::string>> attribute_of(const Dir& dir, const char* attribute) {
  std::array<char, kLongestMark> value;
  const ssize_t size = ::fgetxattr(dir.fd(), attribute, value.data(), value.size());
  if (size >= 0) return std::string(value.data(), static_cast<std::size_t>(size));
  const int code = errno;
  if (code == ENODATA) return std::optional<std::string>();
  if (code == ERANGE) return std::string(" ");  // no id, so another's
  return fail(code, "{}: {}", attribute, errno_text(code));
}

/// Value: who may write a directory.
struct Owner {
  bool roots = false;
  bool alone = false;  ///< and neither its group nor others may
};

Result<Owner> owner_of(const Dir& dir) {
  struct stat st{};
  if (::fstat(dir.fd(), &st) != 0) {
    const int code = errno;
    return fail(code, "stat: {}", errno_text(code));
  }
  const bool roots = st.st_uid == 0;
  return Owner{roots, roots && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0};
}

/// A directory has a link from itself, one from above, and one from each directory in it: of most
/// groups the forty files need not be listed.
bool is_leaf(const Dir& dir) {
  struct stat st{};
  return ::fstat(dir.fd(), &st) == 0 && st.st_nlink == 2;
}

}  // namespace

Result<std::unique_ptr<KernelTree>> KernelTree::open(Host host, std::string run_root) {
  std::map<HierarchyName, Dir> roots;
  for (const auto& hierarchy : host.hierarchies) {
    auto root = Dir::open(hierarchy.mount_point);
    if (!root) return forward(root.error(), "cgroup hierarchy '" + hierarchy.name.str() + "'");
    roots.emplace(hierarchy.name, std::move(*root));
  }
  return std::unique_ptr<KernelTree>(
      new KernelTree(std::move(host), std::move(run_root), std::move(roots)));
}

Result<const Dir*> KernelTree::root(const GroupRef& group) const {
  const auto it = roots_.find(group.hierarchy);
  if (it == roots_.end()) return fail_group(ENOENT, group, "hierarchy");
  return &it->second;
}

void KernelTree::hold(bool on) const {
  holding_ = on;
  held_.clear();
}

const Dir* KernelTree::held(const GroupRef& group) const {
  const auto it = held_.find(group);
  return it == held_.end() ? nullptr : it->second.get();
}

Result<std::shared_ptr<const Dir>> KernelTree::open_group(const GroupRef& group) const {
  held_.erase(group);
  const auto top = root(group);
  if (!top) return forward(top.error());
  const auto* parent = group.path.is_root() ? nullptr : held(parent_of(group));
  auto opened = parent != nullptr ? parent->dir(std::string(group.path.name()))
                                  : (*top)->dir(group.path.relative());
  if (!opened) return fail_group(opened.error().code, group, "");
  auto dir = std::make_shared<const Dir>(std::move(*opened));
  const bool room = held_.size() < kMostHeld && dir->fd() < first_not_held_;
  if (holding_ && room) held_.emplace(group, dir);
  return dir;
}

Result<std::shared_ptr<const Dir>> KernelTree::the_group(const GroupRef& group) const {
  const auto it = held_.find(group);
  return it == held_.end() ? open_group(group) : it->second;
}

Result<std::string> KernelTree::read(const GroupRef& group, const std::string& file) const {
  const auto top = root(group);
  if (!top) return forward(top.error());
  return contents((*top)->read_kernel(path_of(group, file), kMaxControlFile), group, file);
}

Result<std::uint64_t> KernelTree::inode(const GroupRef& group) const {
  const auto top = root(group);
  if (!top) return forward(top.error());
  const auto stamp = (*top)->stamp(group.path.relative());
  if (!stamp) return fail_group(stamp.error().code, group, "");
  return stamp->inode;
}

/// True where root owns every directory above the group: the owner of one could have put another
/// directory in the group's place.
Result<bool> KernelTree::roots_up_to_the_top(const GroupRef& group) const {
  for (auto path = group.path; !path.is_root(); path = path.parent()) {
    const auto above = open_group({group.hierarchy, path.parent()});
    if (!above) return forward(above.error());
    const auto owner = owner_of(**above);
    if (!owner) return fail_group(owner.error().code, group, "owner");
    if (!owner->roots) return false;
  }
  return true;
}

Result<std::optional<Mark>> KernelTree::mark_of(const Dir& dir, const GroupRef& group) const {
  MarkFacts facts;
  for (const auto& [attribute, value] :
       {std::pair{kMarkAttribute, &facts.mark}, {kEarlierMarkAttribute, &facts.earlier}}) {
    if (facts.mark) break;
    auto found = attribute_of(dir, attribute);
    if (!found) return fail_group(found.error().code, group, attribute);
    *value = std::move(*found);
  }
  if (!facts.mark && !facts.earlier) return std::nullopt;
  const auto owner = owner_of(dir);
  if (!owner) return fail_group(owner.error().code, group, "owner");
  facts.roots = owner->roots;
  facts.roots_alone = owner->alone;
  if (facts.earlier && facts.roots_alone) {
    const auto above = roots_up_to_the_top(group);
    if (!above) return forward(above.error());
    facts.roots_alone = *above;
  }
  return believed_mark(facts, run_root_);
}

Result<std::optional<Mark>> KernelTree::mark(const GroupRef& group) const {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  return mark_of(**dir, group);
}

Result<GroupSeen> KernelTree::see(const GroupRef& group, AskMark ask,
                                  const FileNames& files) const {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  GroupSeen seen;
  if (ask == AskMark::yes) {
    auto mark = mark_of(**dir, group);
    if (!mark) return forward(mark.error());
    seen.mark = std::move(*mark);
  }
  seen.files.reserve(files.size());
  for (const auto* file : files)
    seen.files.push_back(contents((*dir)->read_kernel(file, kMaxControlFile), group, file));
  return seen;
}

Result<std::vector<std::string>> KernelTree::children(const GroupRef& group) const {
  const auto dir = the_group(group);
  if (!dir) return forward(dir.error());
  if (is_leaf(**dir)) return std::vector<std::string>{};
  const auto entries = (*dir)->list();
  if (!entries) return fail_group(entries.error().code, group, "");
  std::vector<std::string> names;
  for (const auto& entry : *entries)
    if (entry.directory) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<DevicePolicy> KernelTree::devices(const GroupRef& group) const {
  const auto* hierarchy = host_.find(group.hierarchy);
  if (hierarchy == nullptr || !hierarchy->unified) return DevicePolicy{};
  const auto dir = the_group(group);
  if (!dir) return forward(dir.error());
  auto policy = device_programs((*dir)->fd());
  if (!policy) return fail_group(policy.error().code, group, "device programs");
  return policy;
}

Status KernelTree::make(const GroupRef& group) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  if (group.path.is_root()) return fail_group(EEXIST, group, "mkdir");
  const auto* parent = held(parent_of(group));
  const auto made = parent != nullptr ? parent->make(std::string(group.path.name()))
                                      : (*top)->make(group.path.relative());
  if (!made) return fail_group(made.error().code, group, "mkdir");
  last_made_ = group;
  return {};
}

Status KernelTree::remove(const GroupRef& group) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  if (group.path.is_root()) return fail_group(EBUSY, group, "rmdir");
  const auto* parent = held(parent_of(group));
  const auto removed = parent != nullptr ? parent->remove_dir(std::string(group.path.name()))
                                         : (*top)->remove_dir(group.path.relative());
  if (!removed) return fail_group(removed.error().code, group, "rmdir");
  held_.erase(group);
  return {};
}

Status KernelTree::write(const GroupRef& group, const std::string& file, std::string_view text) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  const auto* dir = held(group);
  const auto fd =
      dir != nullptr ? dir->file(file, O_WRONLY) : (*top)->file(path_of(group, file), O_WRONLY);
  if (!fd) return fail_group(fd.error().code, group, fmt::format("{}={}", file, text));
  const std::string_view sent = text.empty() ? std::string_view("\n") : text;
  const int code = errno_of([&] { return ::write(fd->get(), sent.data(), sent.size()); });
  if (code != 0) return fail_group(code, group, fmt::format("{}={}", file, text));
  return {};
}

Status KernelTree::set_mark(const GroupRef& group, std::string_view id) {
  const auto dir = the_group(group);
  if (!dir) return forward(dir.error());
  const auto owner = owner_of(**dir);
  if (!owner) return fail_group(owner.error().code, group, "owner");
  const auto value = mark_value(id, run_root_);
  const auto what = fmt::format("{}={}", kMarkAttribute, value);
  if (!owner->roots) return fail_group(EPERM, group, what + ": the directory is not root's");
  const int code = errno_of(
      [&] { return ::fsetxattr((*dir)->fd(), kMarkAttribute, value.data(), value.size(), 0); });
  if (code != 0) return fail_group(code, group, what);
  if (std::exchange(last_made_, std::nullopt) == group) return {};  // it has no other one
  // Best effort: it does not count beside the other one.
  (void)::fremovexattr((*dir)->fd(), kEarlierMarkAttribute);  // ignored: mostly there is none
  return {};
}

Status KernelTree::clear_mark(const GroupRef& group) {
  const auto dir = the_group(group);
  if (!dir) return forward(dir.error());
  for (const char* const attribute : {kMarkAttribute, kEarlierMarkAttribute}) {
    const int code = errno_of([&] { return ::fremovexattr((*dir)->fd(), attribute); });
    // Not every kernel has attributes of the earlier kind here.
    if (code != 0 && code != ENODATA && code != EOPNOTSUPP)
      return fail_group(code, group, fmt::format("without {}", attribute));
  }
  return {};
}

Status KernelTree::change_devices(const GroupRef& group, const DeviceChange& change) {
  const auto dir = the_group(group);
  if (!dir) return forward(dir.error());
  const auto done = change_device_programs((*dir)->fd(), change);
  if (!done)
    return fail(done.error().code, "'{}:{}' device program {}: {}", group.hierarchy.str(),
                group.path.str(), change.program, done.error().text);
  return {};
}

}  // namespace kcg
