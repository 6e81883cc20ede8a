// SPDX-License-Identifier: Apache-2.0
#include "support/fake_tree.hpp"

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/text.hpp"
#include "support/fake_files.hpp"

namespace kcg::test {

namespace {

std::string name_of(const GroupRef& group) {
  return fmt::format("'{}:{}'", group.hierarchy.str(), group.path.str());
}

tl::unexpected<Error> no_group(const GroupRef& group, int code = ENOENT) {
  return fail(code, "{}: {}", name_of(group), errno_text(code));
}

std::size_t count_below(const FakeGroup& group) {
  std::size_t count = group.children.size();
  for (const auto& [name, child] : group.children) count += count_below(*child);
  return count;
}

/// cgroup.max.descendants of every ancestor.
bool has_room(const FakeGroup& parent) {
  for (const FakeGroup* group = &parent; group != nullptr; group = group->parent) {
    const auto it = group->values.find("cgroup.max.descendants");
    const auto limit = it == group->values.end() ? std::nullopt : parse_u64(it->second);
    if (limit && count_below(*group) >= *limit) return false;
  }
  return true;
}

void collect(const FakeGroup& group, std::vector<std::string>& paths) {
  for (const auto& [name, child] : group.children) {
    paths.push_back(child->path());
    collect(*child, paths);
  }
}

std::string what_of(const FakeWrite& operation) {
  switch (operation.kind) {
    case FakeWrite::Kind::make:
      return "mkdir";
    case FakeWrite::Kind::remove:
      return "rmdir";
    case FakeWrite::Kind::mark:
      return fmt::format("{}={}", kMarkAttribute, operation.text);
    case FakeWrite::Kind::unmark:
      return fmt::format("without {}", kMarkAttribute);
    case FakeWrite::Kind::device:
      return fmt::format("{} device program {}", operation.file, operation.text);
    case FakeWrite::Kind::write:
      break;
  }
  return fmt::format("{}={}", operation.file, operation.text);
}

}  // namespace

std::string describe(const FakeWrite& write) {
  return fmt::format("{} {}{}", name_of(write.group), what_of(write),
                     write.code == 0 ? "" : " -> " + errno_text(write.code));
}

FakeTree::FakeTree(Host host) : host_(std::move(host)) {
  for (const auto& hierarchy : host_.hierarchies) {
    auto root = std::make_unique<FakeGroup>();
    root->hierarchy = &hierarchy;
    root->inode = next_inode_++;
    set_initial_values(*root, host_);
    roots_.push_back(std::move(root));
  }
}

FakeTree::~FakeTree() = default;

std::size_t FakeTree::index_of(std::string_view hierarchy) const {
  std::size_t i = 0;
  while (i < host_.hierarchies.size() && host_.hierarchies[i].name != hierarchy) ++i;
  return i;
}

FakeGroup* FakeTree::find(const GroupRef& group) const {
  const auto i = index_of(group.hierarchy.str());
  if (i == roots_.size()) return nullptr;
  FakeGroup* at = roots_[i].get();
  if (group.path.is_root()) return at;
  for (const auto part : split(std::string_view(group.path.str()).substr(1), '/')) {
    const auto it = at->children.find(std::string(part));
    if (it == at->children.end()) return nullptr;
    at = it->second.get();
  }
  return at;
}

void FakeTree::hold(bool on) const {
  holding_ = on;
  held_.clear();
}

void FakeTree::hold_one(const GroupRef& group) const {
  if (outside_) return;
  held_.erase(group);
  const FakeGroup* at = find(group);
  if (holding_ && at != nullptr) held_.emplace(group, at->inode);
}

bool FakeTree::stale(const GroupRef& group) const {
  const auto known = outside_ ? held_.end() : held_.find(group);
  if (known == held_.end()) return false;
  const FakeGroup* at = find(group);
  return at == nullptr || at->inode != known->second;
}

Result<std::uint64_t> FakeTree::inode(const GroupRef& group) const {
  const FakeGroup* at = find(group);
  if (at == nullptr) return no_group(group);
  return at->inode;
}

Result<std::optional<Mark>> FakeTree::mark(const GroupRef& group) const {
  if (const int code = read_fault()) return no_group(group, code);
  hold_one(group);
  const FakeGroup* at = find(group);
  if (at == nullptr) return no_group(group);
  MarkFacts facts{at->mark, at->earlier_mark, at->roots, at->roots};
  for (const auto* above = at->parent; above != nullptr; above = above->parent)
    facts.roots_alone = facts.roots_alone && above->roots;
  return believed_mark(facts, "");
}

Result<GroupSeen> FakeTree::see(const GroupRef& group, AskMark ask, const FileNames& files) const {
  const auto found = mark(group);
  if (!found) return forward(found.error());
  GroupSeen seen{ask == AskMark::yes ? *found : std::nullopt, {}};
  for (const auto& file : files) seen.files.push_back(read(group, file));
  return seen;
}

Result<std::vector<std::string>> FakeTree::children(const GroupRef& group) const {
  if (const int code = read_fault()) return no_group(group, code);
  if (!held_.contains(group)) hold_one(group);
  const FakeGroup* at = stale(group) ? nullptr : find(group);
  if (at == nullptr) return no_group(group);
  std::vector<std::string> names;
  for (const auto& [name, child] : at->children) names.push_back(name);
  return names;
}

Status FakeTree::perform(FakeWrite operation, const std::function<int()>& act) {
  if (!outside_) {
    if (hook_) operation.code = hook_(operation);
    if (countdown_ > 0 && --countdown_ == 0) operation.code = fault_;
  }
  const bool below =
      operation.kind == FakeWrite::Kind::make || operation.kind == FakeWrite::Kind::remove;
  const auto& group = operation.group;
  const auto held = below ? GroupRef{group.hierarchy, group.path.parent()} : group;
  const bool in_vain = operation.code == 0 && stale(held);
  const bool marks =
      operation.kind == FakeWrite::Kind::mark || operation.kind == FakeWrite::Kind::unmark;
  if (in_vain && !marks) operation.code = ENOENT;
  if (operation.code == 0 && !in_vain) operation.code = act();
  if (!outside_ && operation.code == 0) {
    if (operation.kind == FakeWrite::Kind::remove) held_.erase(group);
    if (operation.kind == FakeWrite::Kind::mark && !held_.contains(group)) hold_one(group);
  }
  if (!outside_) log_.push_back(operation);
  if (operation.code == 0) return {};
  return fail(operation.code, "{} {}: {}", name_of(operation.group), what_of(operation),
              errno_text(operation.code));
}

Status FakeTree::make(const GroupRef& group) {
  return perform({FakeWrite::Kind::make, group, "", "", 0}, [&] { return make_now(group); });
}

Status FakeTree::remove(const GroupRef& group) {
  return perform({FakeWrite::Kind::remove, group, "", "", 0}, [&] { return remove_now(group); });
}

Status FakeTree::write(const GroupRef& group, const std::string& file, std::string_view text) {
  return perform({FakeWrite::Kind::write, group, file, std::string(text), 0},
                 [&] { return write_now(group, file, text); });
}

Status FakeTree::set_mark(const GroupRef& group, std::string_view id) {
  return perform({FakeWrite::Kind::mark, group, "", std::string(id), 0}, [&] {
    FakeGroup* at = find(group);
    if (at == nullptr) return ENOENT;
    if (!at->roots) return EPERM;
    at->mark = mark_value(id, "");
    at->earlier_mark.reset();
    return 0;
  });
}

Status FakeTree::clear_mark(const GroupRef& group) {
  return perform({FakeWrite::Kind::unmark, group, "", "", 0}, [&] {
    FakeGroup* at = find(group);
    if (at == nullptr) return ENOENT;
    at->mark.reset();
    at->earlier_mark.reset();
    return 0;
  });
}

void FakeTree::set_earlier_mark(const GroupRef& group, const std::string& value) {
  FakeGroup* at = find(group);
  at->mark.reset();
  at->earlier_mark = value;
}

void FakeTree::set_raw_mark(const GroupRef& group, const std::string& value) {
  find(group)->mark = value;
}

void FakeTree::give_away(const GroupRef& group) { find(group)->roots = false; }

int FakeTree::make_now(const GroupRef& group) {
  if (find(group) != nullptr) return EEXIST;
  FakeGroup* parent = find({group.hierarchy, group.path.parent()});
  if (parent == nullptr) return ENOENT;
  if (parent->hierarchy->unified && !has_room(*parent)) return EAGAIN;
  auto child = std::make_unique<FakeGroup>();
  child->hierarchy = parent->hierarchy;
  child->parent = parent;
  child->name = std::string(group.path.name());
  child->inode = next_inode_++;
  set_initial_values(*child, host_);
  parent->children.emplace(child->name, std::move(child));
  return 0;
}

int FakeTree::remove_now(const GroupRef& group) {
  FakeGroup* at = find(group);
  if (at == nullptr) return ENOENT;
  if (at->parent == nullptr || !at->tasks.empty() || !at->children.empty()) return EBUSY;
  at->parent->children.erase(std::string(group.path.name()));
  return 0;
}

void FakeTree::outside(const std::function<void(CgroupTree&)>& act) {
  const bool before = std::exchange(outside_, true);
  act(*this);
  outside_ = before;
}

void FakeTree::set_file(const GroupRef& group, const std::string& file, std::string text) {
  if (FakeGroup* at = find(group)) at->values[file] = std::move(text);
}

void FakeTree::make_all(std::string_view hierarchy, std::string_view path) {
  CgroupPath at;
  for (const auto part : split(path.substr(1), '/')) {
    at = at.child(part).value();
    (void)make_now({std::string(hierarchy), at});  // ignored: EEXIST is as good
  }
}

void FakeTree::fail_operation(std::size_t k, int code) {
  countdown_ = k;
  fault_ = code;
}

std::vector<std::string> FakeTree::groups(std::string_view hierarchy) const {
  std::vector<std::string> paths;
  const auto i = index_of(hierarchy);
  if (i < roots_.size()) collect(*roots_[i], paths);
  return paths;
}

Host fake_host_v2(std::uint64_t cpus) {
  Host host;
  host.mode = HierarchyMode::v2;
  host.online_cpus = cpus;
  host.hierarchies = {{"v2", {"cpuset", "cpu", "io", "memory", "pids"}, true, "/sys/fs/cgroup"}};
  return host;
}

Host fake_host_v1(std::uint64_t cpus) {
  Host host;
  host.mode = HierarchyMode::v1;
  host.online_cpus = cpus;
  for (const char* name : {"cpu", "cpuacct", "cpuset", "memory", "blkio", "pids"})
    host.hierarchies.push_back({name, {name}, false, fmt::format("/sys/fs/cgroup/{}", name)});
  return host;
}

}  // namespace kcg::test
