// SPDX-License-Identifier: Apache-2.0
#include "plan/wanted_groups.hpp"

#include <algorithm>
#include <array>

#include "base/amounts.hpp"
#include "base/text.hpp"
#include "kernel/limit_text.hpp"
#include "model/kata_groups.hpp"
#include "plan/cpuset.hpp"

namespace kcg {

namespace {

constexpr std::array<std::string_view, 5> kPodControllers = {"cpu", "cpuset", "memory", "io",
                                                             "pids"};
constexpr std::array<std::string_view, 3> kThreadedControllers = {"cpu", "cpuset", "pids"};
/// Limits that sizing may set, with the text that lifts them.
using Defaults = std::array<std::pair<std::string_view, std::string_view>, 3>;
constexpr Defaults kDefaultsV2 = {
    {{"memory.max", "max"}, {"cpu.max", "max 100000"}, {"cpu.weight", "100"}}};
constexpr Defaults kDefaultsV1 = {
    {{"memory.limit_in_bytes", "-1"}, {"cpu.cfs_quota_us", "-1"}, {"cpu.shares", "1024"}}};
bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<std::string> file_words(const GroupState* group, const std::string& file) {
  std::vector<std::string> found;
  const auto text = group == nullptr ? std::nullopt : group->file(file);
  if (!text) return found;
  for (const auto word : words(*text)) found.emplace_back(word);
  return found;
}

template <std::size_t N>
std::vector<std::string> offered(const std::vector<std::string>& available,
                                 const std::array<std::string_view, N>& interesting) {
  std::vector<std::string> found;
  for (const auto controller : interesting)
    if (contains(available, controller)) found.emplace_back(controller);
  return found;
}

/// The controller whose file `key` is: "memory.max" -> "memory"; v1 names alike.
std::string_view controller_of(std::string_view key) { return key.substr(0, key.find('.')); }

/// The directories above a pod-less sandbox may be missing; a slice's are systemd's to make.
bool makes_parents(const Observed& observed, const LayoutDecision& decision) {
  const Form form = decision.chosen.form;
  return observed.inputs.pod_less() && decision.path.driver == Driver::cgroupfs &&
         (form == Form::plain || form == Form::legacy_v1);
}

/// Builds the groups of one hierarchy.
class Builder final {
 public:
  Builder(const Config& config, const Observed& observed, const LayoutDecision& decision,
          const LayoutPaths& paths, const Sizing& sizing, WantedGroups& out)
      : config_(config),
        observed_(observed),
        decision_(decision),
        paths_(paths),
        classes_(paths.sandbox),
        sizing_(sizing),
        cpus_(observed, decision, paths, sizing),
        out_(out) {}

  void unified(const Hierarchy& h) {
    const bool nested = decision_.chosen.form == Form::nested;
    if (decision_.chosen.form == Form::legacy_v2 && decision_.path.driver == Driver::cgroupfs)
      add_shared_roots(h, GroupType::domain, paths_.sandbox);
    const auto parent_path = nested ? decision_.path.full : paths_.sandbox.parent();
    const GroupRef parent{h.name, parent_path};
    const auto* sandbox_now = observed_.group({h.name, paths_.sandbox});
    // What is only planned for has the whole node's controllers at hand, also in a parent of ours.
    const bool foreseen = observed_.assumed && observed_.group(parent) == nullptr;
    const auto parent_offers = offered(
        foreseen ? h.controllers : file_words(observed_.group(parent), "cgroup.controllers"),
        kPodControllers);
    const bool enabling = may_enable(parent_path);
    if (enabling && !parent_offers.empty()) out_.enables.push_back({parent, parent_offers});

    const bool early = !nested || observed_.assumed;
    auto available = enabling && early ? parent_offers : std::vector<std::string>{};
    // Delegate=yes: systemd hands every controller down to it.
    if (is_scope(h)) available = offered(h.controllers, kPodControllers);
    if (sandbox_now != nullptr) available = file_words(sandbox_now, "cgroup.controllers");

    auto sandbox = group(h, GroupRole::sandbox, paths_.sandbox, GroupType::domain);
    sandbox.scope = is_scope(h);
    add_limits(sandbox, sizing_.sandbox, available, nested);
    if (!nested && contains(available, "cpuset")) cpus_.unified_top(h, sandbox);
    carry_devices(h, sandbox);
    const auto threaded = offered(available, kThreadedControllers);
    if (split(h)) sandbox.subtree = threaded;
    out_.groups.push_back(std::move(sandbox));
    if (split(h)) add_classes(h, threaded, GroupType::threaded, nested);
  }

  void v1(const Hierarchy& h) {
    auto sandbox = group(h, GroupRole::sandbox, paths_.sandbox, GroupType::v1);
    sandbox.scope = is_scope(h);
    add_limits(sandbox, sizing_.sandbox, h.controllers, false);
    cpus_.v1_top(h, sandbox);
    out_.groups.push_back(std::move(sandbox));
    if (split(h)) add_classes(h, h.controllers, GroupType::v1, false);
  }

  void legacy_v1(const Hierarchy& h) {
    if (h.splits_threads() || h.has("memory")) {
      auto constrained = group(h, GroupRole::constrained, paths_.sandbox, GroupType::v1);
      constrained.katas = true;
      add_limits(constrained, sizing_.constrained, h.controllers, false);
      cpus_.v1_top(h, constrained);
      out_.groups.push_back(std::move(constrained));
    }
    add_shared_roots(h, GroupType::v1, *paths_.overhead);
    auto rest = group(h, GroupRole::unconstrained, *paths_.overhead, GroupType::v1);
    rest.katas = true;
    lift_limits(rest);
    cpus_.as_wide_as(h, rest.ref.path.parent(), rest);
    out_.groups.push_back(std::move(rest));
  }

  /// What an earlier version, or a Kata that came late, left of ours in a tree that is Kata's: used
  /// by nobody who is not in it already, never narrower than what is above, gone with its sandbox.
  void left_behind(const Hierarchy& h) {
    const auto top = paths_.overhead.value_or(paths_.sandbox);
    keep(h, GroupRole::sandbox, top, top.parent());
    for (const auto cls : kThreadClasses) keep(h, role_of(cls), class_path(top, cls), top.parent());
    if (paths_.overhead) keep(h, GroupRole::constrained, paths_.sandbox, paths_.sandbox.parent());
  }

 private:
  void keep(const Hierarchy& h, GroupRole role, const CgroupPath& path, const CgroupPath& above) {
    auto one = group(h, role, path, GroupType::v1);
    const auto* now = observed_.group(one.ref);
    if (now == nullptr || now->mark != observed_.inputs.id.str()) return;
    one.make_parents = false;
    one.katas = path == paths_.overhead || role == GroupRole::constrained;  // Kata fills its own
    cpus_.as_wide_as(h, above, one);
    out_.groups.push_back(std::move(one));
  }
  [[nodiscard]] bool is_scope(const Hierarchy& h) const {
    const Form form = decision_.chosen.form;
    const bool systemd = decision_.path.driver == Driver::systemd;
    return systemd_manages(h) && (form == Form::own_scope || (form == Form::legacy_v2 && systemd));
  }
  [[nodiscard]] bool split(const Hierarchy& h) const {
    return config_.placement.thread_groups && h.splits_threads();
  }

  /// Never in a slice or in Kata's shared group; in Kata's scope only when all of its processes are
  /// known.
  [[nodiscard]] bool may_enable(const CgroupPath& parent) const {
    const Form form = decision_.chosen.form;
    if (form == Form::nested) return observed_.foreign.empty();
    if (parent.name().ends_with(".slice") || parent.str() == kSharedKataGroup) return false;
    return form == Form::plain ||
           (form == Form::legacy_v2 && decision_.path.driver == Driver::cgroupfs);
  }

  [[nodiscard]] WantedGroup group(const Hierarchy& h, GroupRole role, const CgroupPath& path,
                                  GroupType type) const {
    WantedGroup one;
    one.role = role;
    one.ref = {h.name, path};
    one.type = type;
    one.make_parents = makes_parents(observed_, decision_);
    return one;
  }

  /// The directories above a legacy group, shared by all sandboxes.
  void add_shared_roots(const Hierarchy& h, GroupType type, const CgroupPath& below) {
    std::vector<WantedGroup> roots;
    for (auto path = below.parent(); !path.is_root(); path = path.parent()) {
      roots.push_back(group(h, GroupRole::unconstrained, path, type));
      roots.back().shared = true;
      cpus_.as_wide_as(h, path.parent(), roots.back());
    }
    out_.groups.insert(out_.groups.end(), roots.rbegin(), roots.rend());
  }

  void add_classes(const Hierarchy& h, const std::vector<std::string>& available, GroupType type,
                   bool quiet) {
    const auto top = out_.groups.back();
    for (const auto cls : kThreadClasses) {
      auto one = group(h, role_of(cls), classes_[cls], type);
      one.make_parents = false;
      add_limits(one, cls == ThreadClass::vcpu ? sizing_.vcpu : sizing_.other_class, available,
                 quiet);
      if (type == GroupType::v1) cpus_.v1_class(h, cls, top, one);
      if (h.unified && !quiet && contains(available, "cpuset")) cpus_.unified_class(h, cls, one);
      out_.groups.push_back(std::move(one));
    }
  }

  /// A limit whose controller is not there is a condition; a missing weight is not worth one.
  void add_limits(WantedGroup& into, const std::vector<WantedFile>& limits,
                  const std::vector<std::string>& available, bool quiet) {
    for (const auto& limit : limits) {
      if (contains(available, controller_of(limit.key))) {
        into.limits.push_back(keep_memory(into.ref, limit));
        continue;
      }
      const bool weight = limit.key == "cpu.weight" || limit.key == "cpu.shares";
      if (quiet || weight || !observed_.host.unified()) continue;
      out_.conditions.push_back(
          {ConditionName::controller_missing,
           fmt::format("{} wants {}={}, but the controller is not enabled for it: enable it in the "
                       "parents' cgroup.subtree_control",
                       into.ref.path.str(), limit.key, limit.value)});
    }
    lift_limits(into);
    drop_below_usage(into);
  }

  /// What was limited and is not any more goes back to the kernel's default.
  void lift_limits(WantedGroup& into) const {
    const auto* now = observed_.group(into.ref);
    if (now == nullptr) return;
    for (const auto& [key, unlimited] : observed_.host.unified() ? kDefaultsV2 : kDefaultsV1) {
      const bool wanted =
          std::any_of(into.limits.begin(), into.limits.end(),
                      [&, key = key](const WantedFile& limit) { return limit.key == key; });
      const auto text = now->file(key);
      if (wanted || !text || is_default(*text, unlimited)) continue;
      into.limits.push_back({std::string(key), std::string(unlimited)});
    }
  }

  /// v1 shows -1 bytes as the largest number of whole pages.
  static bool is_default(const std::string& text, std::string_view unlimited) {
    if (text.empty() || text == unlimited) return true;
    const auto number = parse_u64(text);
    return unlimited == "-1" && number && *number >= kUnlimitedMemory;
  }

  /// memory max only grows while a VM lives.
  [[nodiscard]] WantedFile keep_memory(const GroupRef& ref, WantedFile limit) const {
    if (limit.key != "memory.max" && limit.key != "memory.limit_in_bytes") return limit;
    const auto* now = observed_.group(ref);
    const auto current = now == nullptr ? std::nullopt : now->file(limit.key);
    const std::uint64_t have = current ? parse_u64(*current).value_or(0) : 0;
    const std::uint64_t want = parse_u64(limit.value).value_or(0);
    if (have < kUnlimitedMemory && have > want && want > 0) limit.value = *current;
    return limit;
  }

  /// The first memory max is not written below usage.
  void drop_below_usage(WantedGroup& into) {
    const auto* now = observed_.group(into.ref);
    if (now == nullptr) return;
    const auto used_text =
        now->file(observed_.host.unified() ? "memory.current" : "memory.usage_in_bytes");
    const auto used = used_text ? parse_u64(*used_text) : std::nullopt;
    if (!used) return;
    std::erase_if(into.limits, [&](const WantedFile& limit) {
      if (limit.key != "memory.max" && limit.key != "memory.limit_in_bytes") return false;
      const auto want = parse_u64(limit.value);
      if (!want || now->file(limit.key) == limit.value || *used <= *want) return false;
      out_.conditions.push_back(
          {ConditionName::limit_below_usage,
           fmt::format("{}: {} of {} is below the usage of {}; not written, tried again later",
                       into.ref.path.str(), limit.key, bytes_text(*want), bytes_text(*used))});
      return true;
    });
  }

  /// Whoever leaves Kata's group leaves its device rules; what stands above holds for ours, too,
  /// and so does what stands at a scope that ours is nested in.
  void carry_devices(const Hierarchy& h, WantedGroup& sandbox) {
    if (decision_.path.driver != Driver::cgroupfs) return;
    const auto first = kata_paths(observed_.inputs.id, decision_.path).front();
    const auto* kata = observed_.group({h.name, first});
    if (kata == nullptr) return;
    sandbox.devices = kata->devices;
    if (kata->devices.unreadable.empty()) return;
    out_.conditions.push_back(
        {ConditionName::device_policy_not_carried,
         fmt::format("the device rules of Kata's group cannot be seen, so the sandbox stays where "
                     "it is: {}; the daemon needs CAP_SYS_ADMIN and bpf(2)",
                     kata->devices.unreadable)});
  }

  const Config& config_;
  const Observed& observed_;
  const LayoutDecision& decision_;
  const LayoutPaths& paths_;
  ClassPaths classes_;
  const Sizing& sizing_;
  CpuSeeds cpus_;
  WantedGroups& out_;
};

}  // namespace

std::vector<bool> usable_hierarchies(const Observed& observed, const LayoutDecision& decision,
                                     const LayoutPaths& paths) {
  std::vector<bool> usable;
  const Form form = decision.chosen.form;
  // Below the legacy root all directories are made by us.
  const bool may_make = form == Form::legacy_v2 || makes_parents(observed, decision);
  for (const auto& h : observed.host.hierarchies) {
    const auto* parent = observed.group({h.name, paths.sandbox.parent()});
    const bool own_scope = form == Form::own_scope && systemd_manages(h);
    if (left_to_kata(observed, decision, paths, h)) {
      usable.push_back(false);
      continue;
    }
    if (!h.unified && h.has("cpuset")) {
      // A parent made by us would be an empty cpuset: wait until somebody has filled it.
      usable.push_back(parent != nullptr && !parent->file("cpuset.cpus").value_or("").empty());
      continue;
    }
    usable.push_back(parent != nullptr || may_make || own_scope);
  }
  return usable;
}

WantedGroups wanted_groups(const Config& config, const Observed& observed,
                           const LayoutDecision& decision, const LayoutPaths& paths,
                           const std::vector<bool>& usable, const Sizing& sizing) {
  WantedGroups wanted;
  Builder builder(config, observed, decision, paths, sizing, wanted);
  for (std::size_t i = 0; i < usable.size(); ++i) {
    const auto& hierarchy = observed.host.hierarchies[i];
    if (left_to_kata(observed, decision, paths, hierarchy)) builder.left_behind(hierarchy);
    if (!usable[i]) continue;
    if (hierarchy.unified)
      builder.unified(hierarchy);
    else if (decision.chosen.form == Form::legacy_v1)
      builder.legacy_v1(hierarchy);
    else
      builder.v1(hierarchy);
  }
  return wanted;
}

}  // namespace kcg
