// SPDX-License-Identifier: Apache-2.0
#include "observe/groups.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/text.hpp"
#include "layout/layout.hpp"
#include "model/errnos.hpp"
#include "sizing/oom.hpp"

namespace kcg {

namespace {

using Files = std::vector<std::string>;

/// Value: a top group of ours, and those below it for the classes of threads, the same in each
/// hierarchy.
struct Top {
  Top(const CgroupPath& top, bool may_be_chosen) : path(top), chosen(may_be_chosen), classes(top) {
    above.push_back(top.parent());
    while (!above.back().is_root()) above.push_back(above.back().parent());
  }
  CgroupPath path;
  bool chosen;  ///< it is where this sandbox belongs, or may be; else it is of interest if ours
  ClassPaths classes;
  std::vector<CgroupPath> above;  ///< its parent first, the root last
};

/// On v2 those of the whole threaded subtree, told by its top alone.
constexpr const char* kProcesses = "cgroup.procs";
constexpr const char* kType = "cgroup.type";
constexpr const char* kControllers = "cgroup.controllers";
constexpr const char* kEnabled = "cgroup.subtree_control";
constexpr const char* kQuota = "cpu.cfs_quota_us";
constexpr const char* kPeriod = "cpu.cfs_period_us";

/// Files of a controller set that somebody decides by, in a group of ours.
Files own_files(const Hierarchy& h, bool top, ThreadClass cls = ThreadClass::vmm) {
  Files files;
  const auto add = [&files](std::initializer_list<const char*> names) {
    files.insert(files.end(), names.begin(), names.end());
  };
  if (top || !h.unified) add({kProcesses});
  if (h.unified) {
    add({kType});
    if (h.has("cpu")) add({"cpu.max", "cpu.weight"});
    if (top) add({kEnabled});
    const bool listed = top || cls == ThreadClass::io || cls == ThreadClass::shim;
    if (listed && h.has("cpuset")) add({"cpuset.cpus"});
    if (top && h.has("memory")) add({"memory.max", "memory.current", "memory.events"});
    return files;
  }
  if (h.has("cpu")) add({"cpu.shares", kQuota});
  if (h.has("cpu") && (top || cls == ThreadClass::vcpu)) add({kPeriod});
  if (h.has("cpuset")) add({"cpuset.cpus", "cpuset.mems"});
  if (top && h.has("memory"))
    add({"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.usage_in_bytes",
         "memory.oom_control"});
  return files;
}

/// Files of a group above ours, or of Kata's. The root limits nobody.
Files outer_files(const Hierarchy& h, const CgroupPath& path, bool parent) {
  Files files;
  const bool limits = !path.is_root();
  if (h.unified) {
    if (limits && h.has("memory")) files.emplace_back("memory.max");
    if (!parent) return files;
    if (limits && h.has("memory")) files.emplace_back("memory.events");
    for (const auto* name : {kControllers, kEnabled}) files.emplace_back(name);
    if (limits && h.has("cpu"))
      for (const auto* name : {"cpu.max", "cpu.weight"}) files.emplace_back(name);
    if (limits && h.has("cpuset")) files.emplace_back("cpuset.cpus");
    if (h.has("cpuset")) files.emplace_back("cpuset.cpus.effective");
    return files;
  }
  if (limits && h.has("memory")) files.emplace_back("memory.limit_in_bytes");
  if (limits && h.has("cpu")) files.emplace_back(kQuota);
  if (parent && h.has("cpuset"))
    for (const auto* name : {"cpuset.cpus", "cpuset.mems"}) files.emplace_back(name);
  return files;
}

/// v2: whoever is in it the top of the threaded subtree lists.
bool listed_above(const GroupRef& ref, const Observed& observed) {
  if (ref.path.is_root()) return false;
  const auto* top = observed.group({ref.hierarchy, ref.path.parent()});
  const auto type = top == nullptr ? std::nullopt : top->file(kType);
  return type && *type == "domain threaded";
}

/// Looks at single groups and remembers those that exist.
class Looker final {
 public:
  Looker(const CgroupTree& tree, GroupDepth depth, const Observed* last, Observed& observed)
      : tree_(tree), depth_(depth), last_(last), observed_(observed) {}

  /// nullptr: it does not exist.
  const GroupState* look(const Hierarchy& h, const CgroupPath& path, Files files) {
    const GroupRef ref{h.name, path};
    if (const auto it = observed_.groups.find(ref); it != observed_.groups.end())
      return &it->second;
    if (absent_.contains(ref)) return nullptr;
    drop_unread(ref, files);
    const auto seen = tree_.see(ref, files);
    if (!readable(seen)) {
      absent_.insert(ref);
      return nullptr;
    }
    auto& state = observed_.groups[ref];
    state.ref = ref;
    if (seen->mark) {
      state.mark = seen->mark->text;
      state.mark_earlier = seen->mark->earlier;
    }
    for (std::size_t i = 0; i < files.size(); ++i) keep(state, files[i], seen->files[i]);
    add_period(state);
    return &state;
  }

  /// Looks at its device programs. False: it does not exist, or not any more, or it does not
  /// matter.
  bool devices(const Hierarchy& h, const CgroupPath& path) {
    if (depth_ == GroupDepth::ended) return false;
    const auto it = observed_.groups.find({h.name, path});
    if (it == observed_.groups.end()) return false;
    if (auto seen = tree_.devices(it->first)) {
      it->second.devices = std::move(*seen);
    } else if (seen.error().code == ENOENT) {
      observed_.groups.erase(it);  // it went meanwhile: that it has no rules was not seen
      return false;
    } else {
      it->second.devices.unreadable = seen.error().text;
    }
    return true;
  }

  /// Those of ours that may be here, and the groups that they are in, without which they are not.
  /// One that may be ours itself is looked at as such: a group is looked at once.
  void ours(const Hierarchy& h, const std::vector<Top>& tops) {
    for (const auto& top : tops) {
      const auto& parent = top.above.front();
      const bool known = std::any_of(tops.begin(), tops.end(),
                                     [&](const Top& other) { return other.path == parent; });
      if (known || look(h, parent, outer_files(h, parent, true)) != nullptr) one_of_ours(h, top);
    }
  }

  void one_of_ours(const Hierarchy& h, const Top& top) {
    if (!top.chosen && !of_interest({h.name, top.path})) return;
    const auto* state = look(h, top.path, own_files(h, true));
    if (state == nullptr) return;
    see_whether_occupied({h.name, top.path});
    // Made after the mark of the one above, and looked at as found ones if that has gone since.
    const bool made = state->mark || observed_.creation_recorded;
    if (!h.splits_threads() || !made) return;
    for (const auto cls : kThreadClasses) {
      look(h, top.classes[cls], own_files(h, false, cls));
      see_whether_occupied({h.name, top.classes[cls]});
    }
  }

  /// Ours, found without a layout.
  void found(const Hierarchy& h, const FlatSet<GroupRef>& refs) {
    for (const auto& ref : refs) {
      if (ref.hierarchy != h.name) continue;
      const bool top = !refs.contains({h.name, ref.path.parent()});
      look(h, ref.path, own_files(h, top, ThreadClass::io));
    }
  }

  /// A group of v2 has what the one above enables, which is read already as a rule.
  void add_controllers() {
    if (depth_ == GroupDepth::ended) return;
    for (auto& [ref, state] : observed_.groups) {
      const bool wanted = state.files.contains(kType) || state.files.contains(kEnabled);
      if (!wanted || state.files.contains(kControllers)) continue;
      const auto above = observed_.groups.find({ref.hierarchy, ref.path.parent()});
      const auto enabled =
          above == observed_.groups.end() ? std::nullopt : above->second.file(kEnabled);
      if (enabled)
        state.files[kControllers] = *enabled;
      else
        keep(state, kControllers, tree_.read(ref, kControllers));
    }
  }

  /// After a kill it matters how full the group and those above it are.
  void add_memory_use() {
    std::set<GroupRef> full;
    for (const auto& [ref, state] : observed_.groups) {
      if (oom_kills(state).value_or(0) == 0) continue;
      for (auto path = ref.path; full.insert({ref.hierarchy, path}).second && !path.is_root();)
        path = path.parent();
    }
    for (const auto& ref : full) {
      const auto it = observed_.groups.find(ref);
      if (it == observed_.groups.end()) continue;
      for (const auto& file : memory_use_files(observed_.host.unified()))
        if (auto text = tree_.read(ref, file)) it->second.files[file] = std::string(trim(*text));
    }
  }

  /// Everything above the parent of our group, up to the root. Of the pod's own it matters, too,
  /// who was killed there, and it is shown with all of its limits.
  void above(const Hierarchy& h, const Top& top, const CgroupPath& pod) {
    for (std::size_t i = 1; i < top.above.size(); ++i) {
      const auto& path = top.above[i];
      const auto& below = top.above[i - 1];
      auto files = outer_files(h, path, path.is_root());
      if (path == pod && h.unified && h.has("memory")) files.emplace_back("memory.events");
      if (path == pod && h.unified && h.has("cpu")) files.emplace_back("cpu.max");
      const bool may_be_written = path == pod || path.is_root();  // controllers are enabled there
      if (!observed_.groups.contains({h.name, below}))
        look(h, path, files);
      else if (may_be_written || !seen_above({h.name, path}, files))
        read_above({h.name, path}, files);
    }
  }

 private:
  template <class T>
  [[nodiscard]] bool readable(const Result<T>& result) {
    if (!result && !errnos::no_group_file(result.error().code))
      observed_.unread_groups.push_back(result.error().text);
    return result.has_value();
  }

  /// Somebody has marked it, or we may have made it.
  bool of_interest(const GroupRef& ref) {
    const auto mark = tree_.mark(ref);
    return readable(mark) && (*mark || observed_.creation_recorded);
  }

  /// Of one that has ended nothing is limited any more, and nothing enabled.
  void drop_unread(const GroupRef& ref, Files& files) const {
    if (depth_ == GroupDepth::whole) return;
    const bool listed = listed_above(ref, observed_) && !observed_.creation_recorded;
    std::erase_if(files, [&](const std::string& file) {
      if (file == kControllers || (listed && file == kType)) return true;
      return !file.starts_with("cgroup.") && !file.starts_with("memory.");
    });
  }

  /// As the last look saw it. False: it has not seen all of this.
  bool seen_above(const GroupRef& ref, const Files& files) {
    const auto* seen = last_ == nullptr ? nullptr : last_->group(ref);
    const bool all = seen != nullptr && std::all_of(files.begin(), files.end(), [&](const auto& f) {
                       return seen->files.contains(f);
                     });
    if (all) observed_.groups.emplace(ref, *seen);
    return all;
  }

  /// What has a child exists, and nothing of ours stands so high: only its limits matter.
  void read_above(const GroupRef& ref, Files files) {
    if (observed_.groups.contains(ref)) return;
    drop_unread(ref, files);
    auto& state = observed_.groups[ref];
    state.ref = ref;
    for (const auto& file : files) keep(state, file, tree_.read(ref, file));
    add_period(state);
  }

  /// Of most groups the quota says that there is none, and of which period does not matter.
  void add_period(GroupState& state) {
    const auto quota = state.file(kQuota);
    const bool wanted = quota && *quota != "-1" && !state.files.contains(kPeriod);
    if (wanted) keep(state, kPeriod, tree_.read(state.ref, kPeriod));
  }

  void keep(GroupState& state, const std::string& file, const Result<std::string>& text) {
    if (readable(text)) state.files[file] = std::string(trim(*text));
  }

  /// What we made and did not come to mark is empty. Asked only where a note says that we did.
  void see_whether_occupied(const GroupRef& ref) {
    const auto it = observed_.groups.find(ref);
    if (!observed_.creation_recorded || it == observed_.groups.end() || it->second.mark) return;
    const auto type = it->second.file(kType);
    const bool threaded = type && *type == "threaded";
    const auto tasks = tree_.read(ref, threaded ? "cgroup.threads" : "cgroup.procs");
    const auto children = tree_.children(ref);
    it->second.occupied =
        !readable(tasks) || !trim(*tasks).empty() || !readable(children) || !children->empty();
  }

  const CgroupTree& tree_;
  GroupDepth depth_;
  const Observed* last_;
  Observed& observed_;
  std::set<GroupRef> absent_;  ///< or unreadable, which has been told; layouts share groups
};

/// Every directory where a top group of ours stands or may stand.
std::vector<Top> tops_of(const Config& config, const Observed& observed, const CgroupsPath& path,
                         const Record& record) {
  const auto& id = observed.inputs.id;
  std::vector<Top> tops;
  const auto layout = chosen_layout(config, observed.inputs, observed.host);
  for (const auto& [form, candidate] : candidate_paths(config, id, path)) {
    if (!possible(form, observed.host, path.driver)) continue;
    if (record.fixed && record.fixed->form != form) continue;
    const bool chosen = record.fixed || layout_of(form) == layout;
    tops.emplace_back(candidate, chosen);
    const auto paths = layout_paths(config, id, path, form);
    if (paths && paths->overhead) tops.emplace_back(paths->sandbox, chosen);
  }
  return tops;
}

/// Processes that sit directly in a group.
std::vector<Pid> pids_in(const CgroupTree& tree, const GroupState& group, Observed& observed) {
  const auto known = group.file(kProcesses);
  const auto text = known ? *known : tree.read(group.ref, kProcesses);
  if (!text && !errnos::no_group_file(text.error().code))
    observed.unread_processes.push_back(text.error().text);
  std::vector<Pid> pids;
  if (!text) return pids;
  for (const auto word : words(*text))
    if (const auto pid = parse_pid(word)) pids.push_back(*pid);
  return pids;
}

}  // namespace

Inside observe_groups(const CgroupTree& tree, const Config& config, const Record& record,
                      GroupDepth depth, const Observed* last, Observed& observed) {
  Looker looker(tree, depth, last, observed);
  const auto& id = observed.inputs.id;
  const auto& path = observed.cgroups_path;
  const auto tops = path ? tops_of(config, observed, *path, record) : std::vector<Top>{};
  const auto katas = path ? kata_paths(id, *path) : std::vector<CgroupPath>{};
  for (const auto& h : observed.host.hierarchies) {
    looker.ours(h, tops);
    looker.found(h, record.found_groups);
    for (const auto& top : tops) looker.above(h, top, path->pod);
    for (const auto& kata : katas) {
      const bool scope = path->driver == Driver::systemd && kata == path->full;
      auto files = outer_files(h, kata, true);
      std::erase(files, kControllers);
      if (h.unified || h.has("cpuset") || scope) looker.look(h, kata, files);
      if (!h.unified || path->driver != Driver::cgroupfs || !looker.devices(h, kata)) continue;
      for (const auto& top : tops)
        (void)looker.devices(h, top.path);  // ignored: only Kata's matter
    }
  }

  looker.add_controllers();
  looker.add_memory_use();
  return inside_of(tree, observed);
}

Inside inside_of(const CgroupTree& tree, Observed& observed) {
  const auto& id = observed.inputs.id;
  const auto& path = observed.cgroups_path;
  Inside inside;
  for (const auto& [ref, state] : observed.groups) {
    const bool ours = state.mark && *state.mark == id.str();
    const bool scope = path && path->driver == Driver::systemd && ref.path == path->full;
    if ((!ours && !scope) || state.file(kType) == "threaded" || listed_above(ref, observed))
      continue;
    const auto pids = pids_in(tree, state, observed);
    inside.all.insert(inside.all.end(), pids.begin(), pids.end());
    if (ours) inside.ours.insert(inside.ours.end(), pids.begin(), pids.end());
  }
  for (auto* pids : {&inside.ours, &inside.all}) {
    std::sort(pids->begin(), pids->end());
    pids->erase(std::unique(pids->begin(), pids->end()), pids->end());
  }
  return inside;
}

}  // namespace kcg
