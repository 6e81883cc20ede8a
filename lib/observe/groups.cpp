// SPDX-License-Identifier: Apache-2.0
#include "observe/groups.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "base/text.hpp"
#include "layout/layout.hpp"
#include "model/errnos.hpp"
#include "observe/group_files.hpp"
#include "observe/quotas.hpp"
#include "sizing/oom.hpp"

namespace kcg {

namespace {

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

/// v2: whoever is in it the top of the threaded subtree lists.
bool listed_above(const GroupRef& ref, const Observed& observed) {
  if (ref.path.is_root()) return false;
  const auto* top = observed.group({ref.hierarchy, ref.path.parent()});
  const auto type = top == nullptr ? std::nullopt : top->file(kType);
  return type && *type == "domain threaded";
}

/// v1: whoever is in a group of ours is there in each hierarchy, but for what somebody does by
/// hand. The tops of ours of which one in which all threads of a process are together has told.
std::vector<CgroupPath> tops_told(const Observed& observed) {
  std::vector<CgroupPath> tops;
  const auto& groups = observed.groups;
  for (const auto& h : observed.host.hierarchies) {
    if (h.splits_threads()) continue;
    for (auto it = groups.lower_bound({h.name, CgroupPath()});
         it != groups.end() && it->first.hierarchy == h.name; ++it)
      if (it->second.mark == observed.inputs.id.str() && it->second.files.contains(kProcesses))
        tops.push_back(it->first.path);
  }
  return tops;
}

bool within_any(const CgroupPath& path, const std::vector<CgroupPath>& tops) {
  return std::any_of(tops.begin(), tops.end(),
                     [&](const CgroupPath& top) { return path.within(top); });
}

/// Those in which all threads of a process are together come first: they may tell for others.
std::vector<const Hierarchy*> in_order(const Host& host) {
  std::vector<const Hierarchy*> order;
  for (const auto& h : host.hierarchies) order.push_back(&h);
  std::stable_partition(order.begin(), order.end(),
                        [](const Hierarchy* h) { return !h->splits_threads(); });
  return order;
}

/// Value: what is to be looked at, but for where.
struct LookOrder {
  const Record& record;
  const std::vector<CgroupPath>& katas;  ///< Kata's own groups
  GroupDepth depth;
  const Observed* last;
  /// Who is in ours: one hierarchy of v1, as far as there is one. Where an event asks, and of what
  /// has lived and ended: rmdir(2) takes no group that anybody is in.
  bool one_tells;
};

/// Looks at single groups and remembers those that exist.
class Looker final {
 public:
  Looker(const CgroupTree& tree, const LookOrder& order, Observed& observed)
      : tree_(tree), order_(order), found_(order.record.found_groups.all()), observed_(observed) {}

  /// nullptr: it does not exist.
  const GroupState* look(const Hierarchy& h, const CgroupPath& path, AskMark ask, FileNames files) {
    const GroupRef ref{h.name, path};
    if (const auto it = observed_.groups.find(ref); it != observed_.groups.end())
      return &it->second;
    if (absent_.contains(ref)) return nullptr;
    drop_unread(ref, files);
    const auto seen = tree_.see(ref, ask, files);
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

  /// Whether one of ours stands, or may stand, where another layout has it.
  [[nodiscard]] bool found_elsewhere() const { return elsewhere_; }

  /// One above ours. Its mark says something where it is Kata's, or was found to be ours.
  const GroupState* outer(const Hierarchy& h, const CgroupPath& path, FileNames files) {
    const bool may_be_marked =
        std::find(order_.katas.begin(), order_.katas.end(), path) != order_.katas.end() ||
        found_.contains({h.name, path});
    return look(h, path, may_be_marked ? AskMark::yes : AskMark::no, std::move(files));
  }

  /// Looks at its device programs. False: it does not exist, or not any more, or it does not
  /// matter.
  bool devices(const Hierarchy& h, const CgroupPath& path) {
    if (order_.depth == GroupDepth::ended) return false;
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
      if (known || outer(h, parent, outer_files(h, parent, true)) != nullptr) one_of_ours(h, top);
    }
  }

  void one_of_ours(const Hierarchy& h, const Top& top) {
    if (!top.chosen && !of_interest({h.name, top.path})) return;
    elsewhere_ = elsewhere_ || !top.chosen;
    const auto* state = look_at_ours(h, top.path, own_files(h, true), true);
    if (state == nullptr) return;
    see_whether_occupied({h.name, top.path});
    // Made after the mark of the one above, and looked at as found ones if that has gone since.
    const bool made = state->mark || observed_.creation_recorded;
    if (!h.splits_threads() || !made) return;
    for (const auto cls : kThreadClasses) {
      look_at_ours(h, top.classes[cls], own_files(h, false, cls), false);
      see_whether_occupied({h.name, top.classes[cls]});
    }
  }

  /// Ours, found without a layout.
  void found(const Hierarchy& h) {
    for (const auto& ref : found_) {
      if (ref.hierarchy != h.name) continue;
      const bool top = !found_.contains({h.name, ref.path.parent()});
      look_at_ours(h, ref.path, own_files(h, top, ThreadClass::io), top);
    }
  }

  /// A group of v2 has what the one above enables, which is read already as a rule.
  void add_controllers() {
    if (order_.depth == GroupDepth::ended) return;
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

  /// After a kill it matters how full the group and those above it are, and what they allow.
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
        outer(h, path, files);
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

  /// With whoever is in it, as far as another one does not tell.
  const GroupState* look_at_ours(const Hierarchy& h, const CgroupPath& path, FileNames files,
                                 bool top) {
    const bool told = h.unified ? !top : within_any(path, told_);
    if (!told) files.insert(files.begin(), kProcesses);
    const auto* state = look(h, path, AskMark::yes, std::move(files));
    if (order_.one_tells && state != nullptr && !h.splits_threads() &&
        state->mark == observed_.inputs.id.str())
      told_.push_back(path);
    return state;
  }

  /// Somebody has marked it, or we may have made it.
  bool of_interest(const GroupRef& ref) {
    const auto mark = tree_.mark(ref);
    return readable(mark) && (*mark || observed_.creation_recorded);
  }

  /// Of one that has ended nothing is limited any more, and nothing enabled.
  void drop_unread(const GroupRef& ref, FileNames& files) const {
    if (order_.depth == GroupDepth::whole) return;
    const bool listed = listed_above(ref, observed_) && !observed_.creation_recorded;
    std::erase_if(files, [&](std::string_view file) {
      if (file == kControllers || (listed && file == kType)) return true;
      return !file.starts_with("cgroup.") && !tells_oom_kills(file);
    });
  }

  /// As the last look saw it. False: it has not seen all of this, or what may have been raised.
  bool seen_above(const GroupRef& ref, const FileNames& files) {
    const auto* seen = order_.last == nullptr ? nullptr : order_.last->group(ref);
    const bool all = seen != nullptr && !has_quota(*seen) &&
                     std::all_of(files.begin(), files.end(),
                                 [&](const auto& f) { return seen->files.contains(f); });
    if (all) observed_.groups.emplace(ref, *seen);
    return all;
  }

  /// What has a child exists, and nothing of ours stands so high: only its limits matter.
  void read_above(const GroupRef& ref, FileNames files) {
    if (observed_.groups.contains(ref)) return;
    drop_unread(ref, files);
    auto& state = observed_.groups[ref];
    state.ref = ref;
    for (const auto* file : files) keep(state, file, tree_.read(ref, file));
    add_period(state);
  }

  /// Of most groups the quota says that there is none, and of which period does not matter.
  void add_period(GroupState& state) {
    if (has_quota(state) && !state.files.contains(kPeriod))
      keep(state, kPeriod, tree_.read(state.ref, kPeriod));
  }

  void keep(GroupState& state, const char* file, const Result<std::string>& text) {
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
  const LookOrder& order_;
  const FlatSet<GroupRef> found_;
  Observed& observed_;
  std::set<GroupRef> absent_;     ///< or unreadable, which has been told; layouts share groups
  std::vector<CgroupPath> told_;  ///< see tops_told()
  bool elsewhere_ = false;
};

/// Every directory where a top group of ours stands or may stand. Nobody but us makes one, and we
/// make them where they belong: where others would be is asked once, and again when the layout has
/// changed.
std::vector<Top> tops_of(const Config& config, const Observed& observed, const CgroupsPath& path,
                         const Record& record, Layout layout) {
  const auto& id = observed.inputs.id;
  const bool only_here = record.only_layout == layout && !observed.creation_recorded;
  std::vector<Top> tops;
  for (const auto& [form, candidate] : candidate_paths(config, id, path)) {
    if (!possible(form, observed.host, path.driver)) continue;
    if (record.fixed && record.fixed->form != form) continue;
    const bool chosen = record.fixed || layout_of(form) == layout;
    if (!chosen && only_here) continue;
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
  const auto& id = observed.inputs.id;
  const auto& path = observed.cgroups_path;
  const auto layout = chosen_layout(config, observed.inputs, observed.host);
  const auto tops = path ? tops_of(config, observed, *path, record, layout) : std::vector<Top>{};
  const auto katas = path ? kata_paths(id, *path) : std::vector<CgroupPath>{};
  const LookOrder order{record, katas, depth, last, depth == GroupDepth::ended || last != nullptr};
  Looker looker(tree, order, observed);
  for (const auto* one : in_order(observed.host)) {
    const auto& h = *one;
    looker.ours(h, tops);
    looker.found(h);
    for (const auto& top : tops) looker.above(h, top, path->pod);
    for (const auto& kata : katas) {
      const bool scope = path->driver == Driver::systemd && kata == path->full;
      auto files = outer_files(h, kata, true);
      std::erase_if(files, [](std::string_view file) { return file == kControllers; });
      if (h.unified || h.has("cpuset") || scope) looker.look(h, kata, AskMark::yes, files);
      if (!h.unified || path->driver != Driver::cgroupfs || !looker.devices(h, kata)) continue;
      for (const auto& top : tops)
        (void)looker.devices(h, top.path);  // ignored: only Kata's matter
    }
  }

  const bool asked = path && !record.fixed && observed.unread_groups.empty();
  if (asked && !looker.found_elsewhere()) observed.only_layout = layout;
  looker.add_controllers();
  looker.add_memory_use();
  return inside_of(tree, observed);
}

Inside inside_of(const CgroupTree& tree, Observed& observed) {
  const auto& id = observed.inputs.id;
  const auto& path = observed.cgroups_path;
  const auto told = tops_told(observed);
  Inside inside;
  for (const auto& [ref, state] : observed.groups) {
    const bool ours = state.mark && *state.mark == id.str();
    const bool scope = path && path->driver == Driver::systemd && ref.path == path->full;
    if ((!ours && !scope) || state.file(kType) == "threaded" || listed_above(ref, observed))
      continue;
    if (ours && !state.files.contains(kProcesses) && within_any(ref.path, told)) continue;
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
