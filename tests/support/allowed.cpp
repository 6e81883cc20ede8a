// SPDX-License-Identifier: Apache-2.0
#include "support/allowed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "support/allowed_cpus.hpp"
#include "support/allowed_places.hpp"

namespace kcg::test {

namespace {

/// What v1 shows where v2 says "max", with some room for page sizes.
constexpr unsigned long long kUnlimited = (1ULL << 63) - 65536;

std::optional<unsigned long long> number(const std::string& text) {
  unsigned long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Holds one plan, step by step, against the rules.
class Judge final {
 public:
  Judge(const Config& config, const Observed& observed)
      : config_(config),
        observed_(observed),
        id_(observed.inputs.id.str()),
        place_(place_of(observed.inputs)) {
    for (const auto& [ref, state] : observed.groups)
      if (state.mark == id_) marked_.insert(ref);
  }

  /// "" = allowed, else the rule that it breaks.
  std::string verdict(const Step& step) {
    if (observed_.pending && !observed_.pending->limits) return "a step while a job is open";
    if (observed_.pending && is<op::SetScope>(step)) return "systemd has not answered yet";
    if (observed_.gone && !is<op::Remove>(step)) return "the sandbox is gone";
    if (observed_.host.find(step.group.hierarchy) == nullptr) return "not a managed hierarchy";
    const bool renewal = is<op::Mark>(step) && renews(step.group);
    if (const auto why = cpus_.verdict(step, marked_, renewal, legacy_groups()); !why.empty())
      return why;
    return std::visit([&](const auto& one) { return judge(step.group, one); }, step.operation);
  }

 private:
  /// `plan --bundle` asks what would be done to a sandbox that need not run.
  [[nodiscard]] bool unmanaged() const {
    return !observed_.assumed && (observed_.unmanaged || !observed_.proven_kata);
  }
  [[nodiscard]] bool exists(const GroupRef& ref) const {
    return observed_.groups.contains(ref) || created_.contains(ref);
  }
  [[nodiscard]] std::string legacy_root() const { return config_.layout.legacy_root; }
  [[nodiscard]] bool is_legacy_root(const std::string& path) const {
    const auto& root = legacy_root();
    return path == root || root.rfind(path + "/", 0) == 0;
  }
  [[nodiscard]] std::set<std::string> legacy_groups() const {
    return {below(place_.pod, place_.kata_sibling), below(legacy_root(), id_)};
  }
  [[nodiscard]] bool is_legacy_group(const std::string& path) const {
    return legacy_groups().contains(path);
  }
  /// A name that only we give, at a place where it may stand.
  [[nodiscard]] bool our_top(const std::string& path) const {
    if (place_.pod.empty()) return false;
    const auto ours = "kata-sandbox-" + id_;  // cut inside a scope, but not by earlier versions
    const auto inside = name_in_scope(ours);
    if (place_.systemd)
      return path == below(place_.scope, inside) || path == below(place_.scope, ours) ||
             path == below(place_.pod, ours + ".scope") ||
             path == "/kata.slice/kata-" + id_ + ".scope";
    return path == below(place_.pod, ours) || path == below(place_.pod, inside);
  }
  [[nodiscard]] static bool is_class(const std::string& name) {
    return name == "vcpu" || name == "io" || name == "vmm" || name == "shim";
  }
  [[nodiscard]] bool our_name(const std::string& path) const {
    if (our_top(path) || is_legacy_group(path)) return true;
    const auto above = parent_of(path);
    return is_class(name_of(path)) && (our_top(above) || is_legacy_group(above));
  }
  /// What systemd makes on request, and nobody else may.
  [[nodiscard]] bool by_systemd(const GroupRef& ref) const {
    const std::string path(ref.path.str());
    const auto* h = observed_.host.find(ref.hierarchy);
    const bool managed = h->unified || h->has("cpu") || h->has("cpuacct") || h->has("memory") ||
                         h->has("blkio") || h->has("pids");
    if (!place_.systemd || !managed) return false;
    return path == below(place_.pod, "kata-sandbox-" + id_ + ".scope") ||
           path == "/kata.slice/kata-" + id_ + ".scope";
  }

  std::string judge(const GroupRef& group, const op::Create& /*one*/) {
    const std::string path(group.path.str());
    if (unmanaged()) return "the sandbox is not ours to place";
    if (exists(group)) return "it exists already";
    if (by_systemd(group)) return "a scope is made by systemd";
    const GroupRef above{group.hierarchy, group.path.parent()};
    if (!above.path.is_root() && observed_.groups.contains(above) == false &&
        !created_.contains(above))
      return "its parent does not exist";
    created_.insert(group);
    if (in_scope(path) && like_a_container(name_of(path)) && !is_legacy_group(path))
      return "the kubelet would take it for a container";
    if (our_name(path)) return "";
    if (is_legacy_root(path)) return "";
    const bool parent = place_.pod == path || place_.pod.rfind(path + "/", 0) == 0;
    if (!parent) return "neither our name nor a parent of ours";
    if (!observed_.inputs.pod_less()) return "a pod's own directories are not ours to make";
    if (place_.systemd) return "a slice is made by systemd";
    return "";
  }

  /// A proven process sits in it: a scope of our name that systemd made for it.
  [[nodiscard]] bool holds_us(const GroupRef& group) const {
    const auto& all = observed_.host.hierarchies;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const auto& process : observed_.processes) {
        if (all[i].name != group.hierarchy || process.threads.empty()) continue;
        const auto& groups = process.threads.front().facts.groups;
        if (i < groups.size() && groups[i] == group.path.str()) return true;
      }
    return false;
  }

  /// It carries our mark as earlier versions wrote it.
  [[nodiscard]] bool renews(const GroupRef& group) const {
    const auto* now = observed_.group(group);
    return now != nullptr && now->mark == id_ && now->mark_earlier;
  }

  std::string judge(const GroupRef& group, const op::Mark& one) {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (one.id != id_) return "somebody else's mark";
    if (!our_name(std::string(group.path.str()))) return "not a name of ours";
    const auto* now = observed_.group(group);
    const bool renewed = renews(group);
    if (now != nullptr && now->mark && !renewed) return "it carries a mark already";
    const bool adopted =
        !observed_.host.unified() && is_legacy_group(std::string(group.path.str()));
    const bool asked_for = by_systemd(group) && holds_us(group);
    const bool noted = observed_.creation_recorded && now != nullptr && !now->occupied;
    if (now != nullptr && !noted && !adopted && !asked_for && !renewed)
      return "somebody else made it";
    if (!exists(group)) return "it does not exist";
    marked_.insert(group);
    return "";
  }

  std::string judge(const GroupRef& group, const op::Seed& one) {
    return by_systemd(group) ? "a scope's files are systemd's" : seed(group, one);
  }

  std::string judge(const GroupRef& group, const op::Limit& one) {
    return by_systemd(group) ? "a scope's files are systemd's" : limit(group, one);
  }

  std::string judge(const GroupRef& group, const op::SetScope& one) {
    if (!by_systemd(group)) return "not a scope";
    return one.key.rfind("cpuset.", 0) == 0 ? seed(group, one) : limit(group, one);
  }

  std::string seed(const GroupRef& group, const op::Change& step) const {
    if (step.key != "cpuset.cpus" && step.key != "cpuset.mems") return "not a cpuset file";
    const auto* now = observed_.group(group);
    const bool kept = now != nullptr && !observed_.host.unified() &&
                      is_legacy_group(std::string(group.path.str())) &&
                      now->file(step.key).value_or("") != "";
    if (marked_.contains(group)) return kept ? "Kata fills this cpuset" : "";
    const bool empty = now == nullptr || now->file(step.key).value_or("") == "";
    // The directory above all legacy groups is ours, but carries no sandbox's mark.
    if (is_legacy_root(std::string(group.path.str())) && exists(group) && empty) return "";
    return "not our group";
  }

  std::string limit(const GroupRef& group, const op::Change& step) const {
    if (!marked_.contains(group)) return "not our group";
    static const std::set<std::string> kFiles = {
        "memory.max",       "memory.limit_in_bytes", "cpu.max",    "cpu.weight",
        "cpu.cfs_quota_us", "cpu.cfs_period_us",     "cpu.shares", "memory.memsw.limit_in_bytes"};
    if (!kFiles.contains(step.key)) return "not a limit";
    if (step.key.rfind("memory.", 0) != 0) return "";
    const auto old = number(step.old_value);
    const auto next = number(step.new_value);
    if (old && *old < kUnlimited && next && *next < *old) return "memory shrinks";
    return "";
  }

  /// The file is one of v2 that we may write at all.
  [[nodiscard]] std::string enables(const GroupRef& group) const {
    if (!observed_.host.unified()) return "v1 has no such file";
    if (ends_with(std::string(group.path.str()), ".slice") && !marked_.contains(group))
      return "a slice's own file";
    return "";
  }

  std::string judge(const GroupRef& group, const op::MakeThreaded& /*one*/) {
    if (const auto why = enables(group); !why.empty()) return why;
    const bool ours = marked_.contains(group) && is_class(name_of(std::string(group.path.str())));
    return ours ? "" : "not our class group";
  }

  std::string judge(const GroupRef& group, const op::Enable& one) {
    if (const auto why = enables(group); !why.empty()) return why;
    const std::string path(group.path.str());
    static const std::set<std::string> kControllers = {"cpu", "cpuset", "memory", "io", "pids"};
    if (!kControllers.contains(one.controller)) return "not one controller of ours";
    if (marked_.contains(group)) return "";
    if (unmanaged()) return "the sandbox is not ours to place";
    if (place_.systemd) {
      if (path != place_.scope) return "neither our group nor Kata's scope";
      return observed_.foreign.empty() ? "" : "an unproven process is in Kata's scope";
    }
    if (path == place_.pod && path != "/kata_vc") return "";
    return path == legacy_root() ? "" : "neither our group nor the pod cgroup";
  }

  std::string judge(const GroupRef& group, const op::MoveProcess& one) {
    return move(group, std::any_of(observed_.processes.begin(), observed_.processes.end(),
                                   [&](const Process& process) {
                                     return ours(process) && process.facts.key == one.task;
                                   }));
  }

  std::string judge(const GroupRef& group, const op::MoveThread& one) {
    if (one.v1 == observed_.host.find(group.hierarchy)->unified) return "wrong file";
    bool proven = false;
    for (const auto& process : observed_.processes)
      for (const auto& thread : process.threads)
        proven = proven || (ours(process) && thread.facts.key == one.task);
    return move(group, proven);
  }

  /// Kernel threads are nobody's, but for those that are called after a process of the sandbox.
  [[nodiscard]] bool ours(const Process& process) const {
    if (!process.facts.kernel_thread) return true;
    const auto& comm = process.facts.comm;
    const auto maker = comm.substr(comm.rfind('-') + 1);
    return process.role == ProcessRole::kernel_worker &&
           std::any_of(
               observed_.processes.begin(), observed_.processes.end(), [&](const Process& one) {
                 return !one.facts.kernel_thread && maker == std::to_string(one.facts.key.pid);
               });
  }

  [[nodiscard]] std::string move(const GroupRef& group, bool proven) const {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (!proven) return "the task is not proven";
    if (sheds_devices(group)) return "it would shed Kata's device rules";
    return marked_.contains(group) ? "" : "not our group";
  }

  /// Kata's own group beside ours, cgroupfs driver; nothing: there is none, or it is inherited.
  [[nodiscard]] const DevicePolicy* katas_devices() const {
    if (place_.kata.empty()) return nullptr;
    const auto path = CgroupPath::parse(place_.kata);
    const auto* kata = path ? observed_.group({"v2", *path}) : nullptr;
    return kata == nullptr ? nullptr : &kata->devices;
  }

  std::string judge(const GroupRef& group, const op::Device& one) {
    if (!observed_.host.unified()) return "v1 has no such programs";
    if (!marked_.contains(group)) return "not our group";
    const auto* kata = katas_devices();
    if (kata == nullptr) return "Kata's group has no programs";
    const auto id = one.change.program;
    const bool katas = std::count(kata->programs.begin(), kata->programs.end(), id) > 0;
    if (one.change.attach != katas) return "not what Kata's group has";
    if (katas && one.change.flags != kata->flags) return "not Kata's flags";
    if (katas) carried_[group].insert(id);
    return "";
  }

  /// True if a move into the group leaves one of Kata's programs behind.
  [[nodiscard]] bool sheds_devices(const GroupRef& group) const {
    const auto* kata = katas_devices();
    if (kata == nullptr) return false;
    if (!kata->unreadable.empty()) return true;
    std::set<std::uint32_t> have;
    for (const auto& ref : {group, GroupRef{group.hierarchy, group.path.parent()}}) {
      if (const auto it = carried_.find(ref); it != carried_.end())
        have.insert(it->second.begin(), it->second.end());
      if (const auto* now = observed_.group(ref))
        have.insert(now->devices.programs.begin(), now->devices.programs.end());
    }
    return !std::includes(have.begin(), have.end(), kata->programs.begin(), kata->programs.end());
  }

  /// A note says that we were making its groups, and by its name this can be no other.
  [[nodiscard]] bool made_by_us(const std::string& path) const {
    const auto top = is_class(name_of(path)) ? parent_of(path) : path;
    auto name = name_of(top);
    auto wanted = "kata-sandbox-" + id_;
    std::erase(name, '-');
    std::erase(wanted, '-');
    return observed_.gone && observed_.creation_recorded && name == wanted;
  }

  std::string judge(const GroupRef& group, const op::Remove& /*one*/) {
    const auto* now = observed_.group(group);
    if (now == nullptr) return "it does not exist";
    const std::string path(group.path.str());
    if (now->mark != id_ && (now->mark || !made_by_us(path))) return "not our mark";
    if (group.path.is_root()) return "the root";
    for (const auto& [ref, state] : observed_.groups) {
      const bool inside = ref.hierarchy == group.hierarchy && state.mark == id_ &&
                          parent_of(std::string(ref.path.str())) == path &&
                          is_class(name_of(std::string(ref.path.str())));
      if (inside && !removed_.contains(ref)) return "a child of ours still stands";
    }
    if (is_legacy_group(path) && observed_.inputs.kata && path.rfind("/kata_", 0) == 0)
      return "Kata's state for it exists";
    removed_.insert(group);
    return "";
  }

  /// Only who gives a sandbox back does these: release_plan().
  static std::string judge(const GroupRef& /*group*/, const op::Disable& /*one*/) {
    return "nothing is ever disabled";
  }
  static std::string judge(const GroupRef& /*group*/, const op::Unmark& /*one*/) {
    return "no mark is taken off";
  }

  std::string judge(const GroupRef& group, const op::StartScope& one) {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (!by_systemd(group)) return "not a scope of ours";
    if (exists(group)) return "it exists already";
    if (!one.first) return observed_.assumed ? "" : "a scope needs a process";
    if (std::none_of(observed_.processes.begin(), observed_.processes.end(),
                     [&](const Process& p) { return p.facts.key == one.first; }))
      return "its process is not proven";
    return "";
  }

  const Config& config_;
  const Observed& observed_;
  std::string id_;
  Place place_;
  KatasCpus cpus_{observed_, place_};
  std::set<GroupRef> marked_, created_, removed_;
  std::map<GroupRef, std::set<std::uint32_t>> carried_;  ///< device programs, by this plan
};

}  // namespace

std::string describe(const Step& step) {
  const auto text = text_of(step);
  const auto task = text.task ? fmt::format(" task {}", text.task->pid) : "";
  return fmt::format("{} {}:{} {} '{}' -> '{}'{}", name(step.operation), step.group.hierarchy.str(),
                     step.group.path.str(), text.key, text.old_value, text.new_value, task);
}

std::string describe(const Plan& plan) {
  std::string text;
  for (const auto& step : plan.steps) text += describe(step) + "\n";
  return text;
}

std::vector<std::string> forbidden(const Config& config, const Observed& observed,
                                   const Plan& plan) {
  Judge judge(config, observed);
  std::vector<std::string> found;
  for (const auto& step : plan.steps)
    if (const auto verdict = judge.verdict(step); !verdict.empty())
      found.push_back(fmt::format("{}: {}", describe(step), verdict));
  return found;
}

std::string forbidden_text(const Config& config, const Observed& observed, const Plan& plan) {
  std::string text;
  for (const auto& line : forbidden(config, observed, plan)) text += line + "\n";
  return text;
}

}  // namespace kcg::test
