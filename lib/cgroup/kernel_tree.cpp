// SPDX-License-Identifier: Apache-2.0
#include "cgroup/kernel_tree.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "cgroup/device_programs.hpp"

namespace kcg {

namespace {

/// The largest control file that is worth reading: cgroup.procs of a group with very many tasks.
constexpr std::size_t kMaxControlFile = std::size_t{16} << 20;

/// "'memory:/pod/x' memory.max=123: No space left on device"; `what` may be empty.
tl::unexpected<Error> fail_group(int code, const GroupRef& group, std::string_view what) {
  return fail(code, "'{}:{}'{}{}: {}", group.hierarchy, group.path.str(), what.empty() ? "" : " ",
              what, errno_text(code));
}

std::string path_of(const GroupRef& group, const std::string& file) {
  return group.path.is_root() ? file : group.path.relative() + "/" + file;
}

std::string without_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
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

}  // namespace

Result<std::unique_ptr<KernelTree>> KernelTree::open(Host host) {
  std::map<std::string, Dir, std::less<>> roots;
  for (const auto& hierarchy : host.hierarchies) {
    auto root = Dir::open(hierarchy.mount_point);
    if (!root) return forward(root.error(), "cgroup hierarchy '" + hierarchy.name + "'");
    roots.emplace(hierarchy.name, std::move(*root));
  }
  return std::unique_ptr<KernelTree>(new KernelTree(std::move(host), std::move(roots)));
}

Result<const Dir*> KernelTree::root(const GroupRef& group) const {
  const auto it = roots_.find(group.hierarchy);
  if (it == roots_.end()) return fail_group(ENOENT, group, "hierarchy");
  return &it->second;
}

Result<Dir> KernelTree::open_group(const GroupRef& group) const {
  const auto top = root(group);
  if (!top) return forward(top.error());
  auto dir = (*top)->dir(group.path.relative());
  if (!dir) return fail_group(dir.error().code, group, "");
  return dir;
}

Result<std::string> KernelTree::read(const GroupRef& group, const std::string& file) const {
  const auto top = root(group);
  if (!top) return forward(top.error());
  auto text = (*top)->read(path_of(group, file), kMaxControlFile);
  if (!text) return fail_group(text.error().code, group, file);
  return without_newline(std::move(*text));
}

Result<std::uint64_t> KernelTree::inode(const GroupRef& group) const {
  const auto top = root(group);
  if (!top) return forward(top.error());
  const auto stamp = (*top)->stamp(group.path.relative());
  if (!stamp) return fail_group(stamp.error().code, group, "");
  return stamp->inode;
}

Result<std::optional<std::string>> KernelTree::mark(const GroupRef& group) const {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  std::string value(256, '\0');  // ours is a sandbox id, at most 128 bytes
  const ssize_t size = ::fgetxattr(dir->fd(), kMarkAttribute, value.data(), value.size());
  if (size < 0) {
    const int code = errno;
    if (code == ENODATA) return std::nullopt;
    return fail_group(code, group, kMarkAttribute);
  }
  value.resize(static_cast<std::size_t>(size));
  return value;
}

Result<std::vector<std::string>> KernelTree::children(const GroupRef& group) const {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  const auto entries = dir->list();
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
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  auto policy = device_programs(dir->fd());
  if (!policy) return fail_group(policy.error().code, group, "device programs");
  return policy;
}

Status KernelTree::make(const GroupRef& group) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  if (group.path.is_root()) return fail_group(EEXIST, group, "mkdir");
  const auto made = (*top)->make(group.path.relative());
  if (!made) return fail_group(made.error().code, group, "mkdir");
  return {};
}

Status KernelTree::remove(const GroupRef& group) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  if (group.path.is_root()) return fail_group(EBUSY, group, "rmdir");
  const auto removed = (*top)->remove_dir(group.path.relative());
  if (!removed) return fail_group(removed.error().code, group, "rmdir");
  return {};
}

Status KernelTree::write(const GroupRef& group, const std::string& file, std::string_view text) {
  const auto top = root(group);
  if (!top) return forward(top.error());
  const auto fd = (*top)->file(path_of(group, file), O_WRONLY);
  if (!fd) return fail_group(fd.error().code, group, fmt::format("{}={}", file, text));
  const std::string_view sent = text.empty() ? std::string_view("\n") : text;
  const int code = errno_of([&] { return ::write(fd->get(), sent.data(), sent.size()); });
  if (code != 0) return fail_group(code, group, fmt::format("{}={}", file, text));
  return {};
}

Status KernelTree::set_mark(const GroupRef& group, std::string_view value) {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  const int code = errno_of(
      [&] { return ::fsetxattr(dir->fd(), kMarkAttribute, value.data(), value.size(), 0); });
  if (code != 0) return fail_group(code, group, fmt::format("{}={}", kMarkAttribute, value));
  return {};
}

Status KernelTree::change_devices(const GroupRef& group, const DeviceChange& change) {
  const auto dir = open_group(group);
  if (!dir) return forward(dir.error());
  const auto done = change_device_programs(dir->fd(), change);
  if (!done)
    return fail(done.error().code, "'{}:{}' device program {}: {}", group.hierarchy,
                group.path.str(), change.program, done.error().text);
  return {};
}

}  // namespace kcg
