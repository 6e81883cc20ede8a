// SPDX-License-Identifier: Apache-2.0
#include "observe/held.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "layout/layout.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

class Around final {
 public:
  Around(const CgroupTree& tree, ProcView& proc, Observed observed) : tree_(tree), proc_(proc) {
    held_.observed = std::move(observed);
    for (const auto& [ref, state] : seen().groups)
      if (state.mark == seen().inputs.id.str()) ours_.insert(ref);
  }

  HeldSandbox look() {
    const auto& path = seen().cgroups_path;
    const auto katas = path ? kata_paths(seen().inputs.id, *path) : std::vector<CgroupPath>{};
    for (const auto& h : seen().host.hierarchies)
      for (const auto& kata : katas) look_at(h, kata);
    for (const auto& ref : ours_) {
      const auto* h = seen().host.find(ref.hierarchy);
      if (h == nullptr) continue;
      look_at(*h, ref.path.parent());
      if (h->unified) carried_devices(ref);
      kernel_threads(ref);
    }
    for (const auto& h : seen().host.hierarchies)
      if (h.unified && path && path->driver == Driver::systemd) beside({h.name, path->full});
    return std::move(held_);
  }

 private:
  [[nodiscard]] Observed& seen() { return held_.observed; }

  /// False: it does not exist.
  template <class T>
  bool readable(const Result<T>& result) {
    if (!result && !errnos::no_group_file(result.error().code))
      seen().unread_groups.push_back(result.error().text);
    return result.has_value();
  }

  void look_at(const Hierarchy& h, const CgroupPath& path) {
    const GroupRef ref{h.name, path};
    const auto mark = tree_.mark(ref);
    if (!readable(mark)) return;
    auto& state = seen().groups[ref];
    state.ref = ref;
    if (*mark) state.mark = (*mark)->text;
    const std::string file = h.unified ? op::Enable::kFile : "cpuset.cpus";
    if (!h.unified && !h.has("cpuset")) return;
    const auto text = tree_.read(ref, file);
    if (readable(text)) state.files[file] = std::string(trim(*text));
  }

  /// Where Kata's group has gone, ours alone knows its device rules.
  void carried_devices(const GroupRef& ref) {
    auto devices = tree_.devices(ref);
    if (devices)
      seen().groups[ref].devices = std::move(*devices);
    else
      seen().groups[ref].devices.unreadable = devices.error().text;
  }

  void beside(const GroupRef& scope) {
    const auto children = tree_.children(scope);
    if (!readable(children)) return;
    for (const auto& name : *children) {
      const auto child = scope.path.child(name);
      if (child && !ours_.contains({scope.hierarchy, *child})) held_.beside.push_back(name);
    }
  }

  void kernel_threads(const GroupRef& ref) {
    const auto text = tree_.read(ref, "cgroup.procs");  // a threaded group's domain lists them
    if (!readable(text)) return;
    for (const auto word : words(*text)) {
      const auto pid = parse_pid(word);
      if (!pid || !looked_at_.insert(*pid).second) continue;
      const auto who = proc_.identity(*pid);
      if (!who || !who->kernel_thread || known(who->key)) continue;
      auto threads = proc_.threads(*pid, seen().host, 1);
      if (!threads) continue;
      Process one;
      one.facts = *who;
      for (auto& thread : *threads) one.threads.push_back({std::move(thread)});
      seen().processes.push_back(std::move(one));
    }
  }
  [[nodiscard]] bool known(const TaskKey& key) {
    return std::any_of(seen().processes.begin(), seen().processes.end(),
                       [&](const Process& process) { return process.facts.key == key; });
  }

  const CgroupTree& tree_;
  ProcView& proc_;
  HeldSandbox held_;
  std::set<GroupRef> ours_;
  std::set<Pid> looked_at_;
};

}  // namespace

HeldSandbox look_around(const CgroupTree& tree, ProcView& proc, Observed observed) {
  return Around(tree, proc, std::move(observed)).look();
}

}  // namespace kcg
