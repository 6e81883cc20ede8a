// SPDX-License-Identifier: Apache-2.0
#include "support/allowed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace kcg::test {

namespace {

/// What v1 shows where v2 says "max", with some room for page sizes.
constexpr unsigned long long kUnlimited = (1ULL << 63) - 65536;

using Parts = std::vector<std::string>;

Parts parts_of(const std::string& text, char separator) {
  Parts parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string below(const std::string& path, const std::string& name) {
  return fmt::format("{}/{}", path == "/" ? std::string() : path, name);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What a cgroupsPath says; `pod` is "" when it says nothing usable.
struct Place {
  bool systemd = false;
  std::string pod;
  std::string scope;         ///< Kata's own, systemd driver
  std::string kata_sibling;  ///< name of the legacy constrained group
  std::string kata;          ///< Kata's own, cgroupfs driver
};

Place place_of(const SandboxInputs& inputs) {
  Place place;
  if (!inputs.cgroups_path()) return place;
  const std::string text = *inputs.cgroups_path();
  const auto colons = parts_of(text, ':');
  if (colons.size() == 3 && ends_with(colons[0], ".slice")) {
    place.systemd = true;
    if (colons[0] == "-.slice") {
      place.pod = std::string("/");
    } else {
      std::string so_far;
      std::string path;
      for (const auto& part : parts_of(colons[0].substr(0, colons[0].size() - 6), '-')) {
        so_far = so_far.empty() ? part : fmt::format("{}-{}", so_far, part);
        path += fmt::format("/{}.slice", so_far);
      }
      place.pod = path;
    }
    place.kata_sibling = fmt::format("kata_{}-{}", colons[1], colons[2]);
    place.scope = below(place.pod, fmt::format("{}-{}.scope", colons[1], colons[2]));
    return place;
  }
  Parts kept;
  for (const auto& part : parts_of(text, '/')) {
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
  }
  const bool absolute = !text.empty() && text[0] == '/';
  if (!absolute) kept.insert(kept.begin(), std::string("vc"));
  const std::string name = kept.empty() ? "" : kept.back();
  // Without a name of its own the sandbox sits at the top: "/" or Kata's "/vc".
  const bool own = kept.empty() || (!absolute && kept.size() == 1);
  if (!own) kept.pop_back();
  for (const auto& part : kept) place.pod += fmt::format("/{}", part);
  if (place.pod.empty()) place.pod = std::string("/");
  place.kata_sibling = fmt::format("kata_{}", own ? inputs.id.str() : name);
  place.kata = own ? "/kata_vc" : below(place.pod, place.kata_sibling);
  return place;
}

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
    if (observed_.pending && step.op == Op::set_scope) return "systemd has not answered yet";
    if (observed_.gone && step.op != Op::remove) return "the sandbox is gone";
    if (observed_.host.find(step.group.hierarchy) == nullptr) return "not a managed hierarchy";
    switch (step.op) {
      case Op::create:
        return create(step);
      case Op::mark:
        return mark(step);
      case Op::seed:
        return by_systemd(step.group) ? "a scope's files are systemd's" : seed(step);
      case Op::limit:
        return by_systemd(step.group) ? "a scope's files are systemd's" : limit(step);
      case Op::set_scope:
        if (!by_systemd(step.group)) return "not a scope";
        return step.key.rfind("cpuset.", 0) == 0 ? seed(step) : limit(step);
      case Op::device:
        return device(step);
      case Op::enable:
        return enable(step);
      case Op::move_process:
      case Op::move_thread:
        return move(step);
      case Op::remove:
        return remove(step);
      case Op::start_scope:
        return start_scope(step);
    }
    return "unknown operation";
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
  [[nodiscard]] bool is_legacy_group(const std::string& path) const {
    return path == below(place_.pod, place_.kata_sibling) || path == below(legacy_root(), id_);
  }
  /// A name that only we give, at a place where it may stand.
  [[nodiscard]] bool our_top(const std::string& path) const {
    if (place_.pod.empty()) return false;
    const auto ours = "kata-sandbox-" + id_;
    if (place_.systemd)
      return path == below(place_.scope, ours) || path == below(place_.pod, ours + ".scope") ||
             path == "/kata.slice/kata-" + id_ + ".scope";
    return path == below(place_.pod, ours);
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
    const auto& path = ref.path.str();
    const auto* h = observed_.host.find(ref.hierarchy);
    const bool managed = h->unified || h->has("cpu") || h->has("cpuacct") || h->has("memory") ||
                         h->has("blkio") || h->has("pids");
    if (!place_.systemd || !managed) return false;
    return path == below(place_.pod, "kata-sandbox-" + id_ + ".scope") ||
           path == "/kata.slice/kata-" + id_ + ".scope";
  }

  std::string create(const Step& step) {
    const auto& path = step.group.path.str();
    if (unmanaged()) return "the sandbox is not ours to place";
    if (exists(step.group)) return "it exists already";
    if (by_systemd(step.group)) return "a scope is made by systemd";
    const GroupRef above{step.group.hierarchy, step.group.path.parent()};
    if (!above.path.is_root() && observed_.groups.contains(above) == false &&
        !created_.contains(above))
      return "its parent does not exist";
    created_.insert(step.group);
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

  std::string mark(const Step& step) {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (step.new_value != id_) return "somebody else's mark";
    if (!our_name(step.group.path.str())) return "not a name of ours";
    const auto* now = observed_.group(step.group);
    if (now != nullptr && now->mark) return "it carries a mark already";
    const bool adopted = !observed_.host.unified() && is_legacy_group(step.group.path.str());
    const bool asked_for = by_systemd(step.group) && holds_us(step.group);
    if (now != nullptr && !observed_.creation_recorded && !adopted && !asked_for)
      return "somebody else made it";
    if (!exists(step.group)) return "it does not exist";
    marked_.insert(step.group);
    return "";
  }

  std::string seed(const Step& step) const {
    if (step.key != "cpuset.cpus" && step.key != "cpuset.mems") return "not a cpuset file";
    const auto* now = observed_.group(step.group);
    const bool kept = now != nullptr && !observed_.host.unified() &&
                      is_legacy_group(step.group.path.str()) &&
                      now->file(step.key).value_or("") != "";
    if (marked_.contains(step.group)) return kept ? "Kata fills this cpuset" : "";
    const bool empty = now == nullptr || now->file(step.key).value_or("") == "";
    // The directory above all legacy groups is ours, but carries no sandbox's mark.
    if (is_legacy_root(step.group.path.str()) && exists(step.group) && empty) return "";
    return "not our group";
  }

  std::string limit(const Step& step) {
    if (!marked_.contains(step.group)) return "not our group";
    static const std::set<std::string> kFiles = {
        "memory.max",       "memory.limit_in_bytes", "cpu.max",    "cpu.weight",
        "cpu.cfs_quota_us", "cpu.cfs_period_us",     "cpu.shares", "memory.memsw.limit_in_bytes"};
    if (!kFiles.contains(step.key)) return "not a limit";
    if (step.key.rfind("memory.", 0) != 0) return "";
    auto old = number(step.old_value);
    if (old && *old >= kUnlimited) old.reset();
    const auto next = number(step.new_value);
    if (old && next && *next < *old) return "memory shrinks";
    return "";
  }

  std::string enable(const Step& step) {
    const auto& path = step.group.path.str();
    if (!observed_.host.unified()) return "v1 has no such file";
    if (ends_with(path, ".slice") && !marked_.contains(step.group)) return "a slice's own file";
    if (step.key == "cgroup.type") {
      if (step.new_value != "threaded") return "not a type";
      return marked_.contains(step.group) && is_class(name_of(path)) ? "" : "not our class group";
    }
    if (step.key != "cgroup.subtree_control") return "not a file that enables";
    static const std::set<std::string> kControllers = {"+cpu", "+cpuset", "+memory", "+io",
                                                       "+pids"};
    if (!kControllers.contains(step.new_value)) return "not one controller of ours";
    if (marked_.contains(step.group)) return "";
    if (unmanaged()) return "the sandbox is not ours to place";
    if (place_.systemd) {
      if (path != place_.scope) return "neither our group nor Kata's scope";
      return observed_.foreign.empty() ? "" : "an unproven process is in Kata's scope";
    }
    if (path == place_.pod && path != "/kata_vc") return "";
    return path == legacy_root() ? "" : "neither our group nor the pod cgroup";
  }

  std::string move(const Step& step) {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (!step.task) return "no task";
    const auto* hierarchy = observed_.host.find(step.group.hierarchy);
    const auto single = hierarchy->unified ? "cgroup.threads" : "tasks";
    if (step.key != (step.op == Op::move_process ? "cgroup.procs" : single)) return "wrong file";
    bool proven = false;
    for (const auto& process : observed_.processes) {
      if (process.facts.kernel_thread) continue;
      if (step.op == Op::move_process) proven = proven || process.facts.key == *step.task;
      if (step.op == Op::move_thread)
        for (const auto& thread : process.threads)
          proven = proven || thread.facts.key == *step.task;
    }
    if (!proven) return "the task is not proven";
    if (sheds_devices(step.group)) return "it would shed Kata's device rules";
    return marked_.contains(step.group) ? "" : "not our group";
  }

  /// Kata's own group beside ours, cgroupfs driver; nothing: there is none, or it is inherited.
  [[nodiscard]] const DevicePolicy* katas_devices() const {
    if (place_.kata.empty()) return nullptr;
    const auto path = CgroupPath::parse(place_.kata);
    const auto* kata = path ? observed_.group({"v2", *path}) : nullptr;
    return kata == nullptr ? nullptr : &kata->devices;
  }

  std::string device(const Step& step) {
    if (!observed_.host.unified()) return "v1 has no such programs";
    if (!marked_.contains(step.group)) return "not our group";
    if (!step.device) return "no program";
    const auto* kata = katas_devices();
    if (kata == nullptr) return "Kata's group has no programs";
    const auto id = step.device->program;
    const bool katas = std::count(kata->programs.begin(), kata->programs.end(), id) > 0;
    if (step.device->attach != katas) return "not what Kata's group has";
    if (katas && step.device->flags != kata->flags) return "not Kata's flags";
    if (katas) carried_[step.group].insert(id);
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

  std::string remove(const Step& step) {
    const auto* now = observed_.group(step.group);
    if (now == nullptr) return "it does not exist";
    if (now->mark != id_) return "not our mark";
    if (step.group.path.is_root()) return "the root";
    const auto& path = step.group.path.str();
    for (const auto& [ref, state] : observed_.groups) {
      const bool inside = ref.hierarchy == step.group.hierarchy && state.mark == id_ &&
                          parent_of(ref.path.str()) == path && is_class(name_of(ref.path.str()));
      if (inside && !removed_.contains(ref)) return "a child of ours still stands";
    }
    if (is_legacy_group(path) && observed_.inputs.kata && path.rfind("/kata_", 0) == 0)
      return "Kata's state for it exists";
    removed_.insert(step.group);
    return "";
  }

  std::string start_scope(const Step& step) {
    if (unmanaged()) return "the sandbox is not ours to place";
    if (!by_systemd(step.group)) return "not a scope of ours";
    if (exists(step.group)) return "it exists already";
    if (step.key != name_of(step.group.path.str())) return "wrong unit";
    const auto above = parent_of(step.group.path.str());
    if (step.new_value != (above == "/" ? "-.slice" : name_of(above))) return "wrong slice";
    if (!step.task) return observed_.assumed ? "" : "a scope needs a process";
    if (std::none_of(observed_.processes.begin(), observed_.processes.end(),
                     [&](const Process& p) { return p.facts.key == step.task; }))
      return "its process is not proven";
    return "";
  }

  const Config& config_;
  const Observed& observed_;
  std::string id_;
  Place place_;
  std::set<GroupRef> marked_, created_, removed_;
  std::map<GroupRef, std::set<std::uint32_t>> carried_;  ///< device programs, by this plan
};

}  // namespace

std::string describe(const Step& step) {
  const auto task = step.task ? fmt::format(" task {}", step.task->pid) : "";
  return fmt::format("{} {}:{} {} '{}' -> '{}'{}", name(step.op), step.group.hierarchy,
                     step.group.path.str(), step.key, step.old_value, step.new_value, task);
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
