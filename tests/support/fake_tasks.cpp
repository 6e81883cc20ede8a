// SPDX-License-Identifier: Apache-2.0
//
// FakeTree's tasks: the membership files, and threads that come and go.
#include <fmt/format.h>

#include <cerrno>
#include <set>

#include "base/text.hpp"
#include "support/fake_cpuset.hpp"
#include "support/fake_files.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

namespace {

/// cgroup.procs, cgroup.threads (v2) or tasks (v1).
bool is_membership(const FakeGroup& group, const std::string& file) {
  return file == "cgroup.procs" || file == (group.hierarchy->unified ? "cgroup.threads" : "tasks");
}

/// All tids that a domain accounts for: its own and those of its threaded subtree.
void collect_domain(const FakeGroup& group, std::set<Pid>& tids) {
  tids.insert(group.tasks.begin(), group.tasks.end());
  for (const auto& [name, child] : group.children)
    if (child->threaded) collect_domain(*child, tids);
}

template <class Tids>
std::string one_per_line(const Tids& tids) {
  std::string text;
  for (const auto tid : tids) text += fmt::format("{}{}", text.empty() ? "" : "\n", tid);
  return text;
}

}  // namespace

Result<std::string> FakeTree::read(const GroupRef& group, const std::string& file) const {
  const FakeGroup* at = find(group);
  const auto failed = [&](int code) {
    return fail(code, "'{}:{}' {}: {}", group.hierarchy.str(), group.path.str(), file,
                errno_text(code));
  };
  if (const int code = read_fault()) return failed(code);
  if (at == nullptr) return failed(ENOENT);
  if (is_membership(*at, file)) {
    if (file != "cgroup.procs") return one_per_line(at->tasks);
    if (at->threaded) return failed(EOPNOTSUPP);
    std::set<Pid> tids = at->tasks;
    if (at->hierarchy->unified) collect_domain(*at, tids);
    std::set<Pid> pids;
    for (const auto tid : tids) pids.insert(tasks_.at(tid).pid);
    return one_per_line(pids);
  }
  auto text = read_file(*at, host_, file);
  if (!text) return failed(ENOENT);
  return *text;
}

int FakeTree::write_now(const GroupRef& group, const std::string& file, std::string_view text) {
  FakeGroup* at = find(group);
  if (at == nullptr) return ENOENT;
  if (is_membership(*at, file)) return attach(*at, text, file == "cgroup.procs");
  return write_file(*at, host_, file, text);
}

int FakeTree::attach(FakeGroup& to, std::string_view text, bool whole_process) {
  const auto tid = parse_pid(trim(text));
  if (!tid) return EINVAL;
  const auto it = tasks_.find(*tid);
  if (it == tasks_.end()) return ESRCH;
  if (it->second.forming) return EINVAL;
  const auto movers = whole_process ? threads_of(it->second.pid) : std::vector<Pid>{*tid};
  const auto index = index_of(to.hierarchy->name.str());
  const FakeGroup& from = *tasks_.at(whole_process ? it->second.pid : *tid).groups.at(index);
  if (const int code = vet_attach(from, to, whole_process); code != 0) return code;
  bool changes = false;
  for (const auto mover : movers) changes = changes || tasks_.at(mover).groups.at(index) != &to;
  if (!changes) return 0;
  const bool needs_cpuset = !to.hierarchy->unified && to.hierarchy->has("cpuset");
  if (needs_cpuset && cpuset_is_empty(to)) return ENOSPC;
  for (const auto mover : movers) move(mover, to);
  return 0;
}

void FakeTree::move(Pid tid, FakeGroup& to) {
  auto& slot = tasks_.at(tid).groups.at(index_of(to.hierarchy->name.str()));
  slot->tasks.erase(tid);
  slot = &to;
  to.tasks.insert(tid);
}

void FakeTree::add_task(Pid tid, Pid pid, const std::vector<FakeGroup*>& groups) {
  tasks_[tid] = {pid, false, groups};
  for (FakeGroup* group : groups) group->tasks.insert(tid);
}

void FakeTree::add_process(Pid pid, const std::vector<Pid>& tids) {
  std::vector<FakeGroup*> groups;
  for (const auto& root : roots_) groups.push_back(root.get());
  add_task(pid, pid, groups);
  for (const auto tid : tids) add_task(tid, pid, groups);
}

void FakeTree::fork_process(Pid creator, Pid child) {
  const auto groups = tasks_.at(creator).groups;
  add_task(child, child, groups);
}

void FakeTree::spawn_thread(Pid pid, Pid tid, Pid creator) {
  const auto groups = tasks_.at(creator == 0 ? pid : creator).groups;
  add_task(tid, pid, groups);
}

void FakeTree::exit_thread(Pid tid) {
  const auto it = tasks_.find(tid);
  if (it == tasks_.end()) return;
  for (FakeGroup* group : it->second.groups) group->tasks.erase(tid);
  tasks_.erase(it);
}

void FakeTree::exit_process(Pid pid) {
  for (const auto tid : threads_of(pid)) exit_thread(tid);
}

void FakeTree::set_forming(Pid tid, bool forming) {
  const auto it = tasks_.find(tid);
  if (it != tasks_.end()) it->second.forming = forming;
}

std::string FakeTree::group_of(Pid tid, std::string_view hierarchy) const {
  const auto it = tasks_.find(tid);
  const auto index = index_of(hierarchy);
  if (it == tasks_.end() || index == roots_.size()) return "";
  return it->second.groups[index]->path();
}

std::vector<Pid> FakeTree::threads_of(Pid pid) const {
  std::vector<Pid> tids;
  for (const auto& [tid, task] : tasks_)
    if (task.pid == pid) tids.push_back(tid);
  return tids;
}

}  // namespace kcg::test
