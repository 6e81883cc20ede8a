// SPDX-License-Identifier: Apache-2.0
#include "offline/release.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "apply/apply.hpp"
#include "base/text.hpp"
#include "observe/held.hpp"
#include "observe/sandbox.hpp"
#include "offline/found_node.hpp"
#include "plan/release.hpp"
#include "record/outcomes.hpp"

namespace kcg {

namespace {

constexpr unsigned kMostLooks = 20;
/// Enough to find them; a crowd is one trouble.
constexpr std::size_t kMostNamed = 5;

/// Who keeps a group from being removed: nobody of whom it was known that he may be moved.
std::string who_is_in(const CgroupTree& tree, const GroupRef& group) {
  std::vector<std::string> found;
  for (const auto* file : {"cgroup.procs", "cgroup.threads"}) {
    const auto text = tree.read(group, file);
    if (!text || !found.empty()) continue;
    for (const auto word : words(*text)) found.emplace_back(word);
  }
  if (found.empty()) return "";
  const auto more = found.size() - std::min(found.size(), kMostNamed);
  found.resize(found.size() - more);
  return fmt::format(": process {}{}", join(found, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

class Releasing final {
 public:
  Releasing(const PassWorld& world, const PassOrder& order, const Record& record)
      : world_(world), order_(order), record_(record) {
    released_.id = order.assembled.inputs.id.str();
  }

  Released run(const std::function<void()>& pause) {
    for (unsigned looks = 1;; ++looks) {
      const auto release = look();
      released_.problems = release.problems;
      if (release.plan.steps.empty()) break;
      const auto report = apply(release.plan, world_.tree, world_.proc, world_.systemd);
      note(report);
      if (looks == kMostLooks) break;
      if (report.done() < report.results.size()) pause();
    }
    released_.processes = static_cast<std::uint32_t>(moved_.size());
    return std::move(released_);
  }

 private:
  [[nodiscard]] ReleasePlan look() {
    return release_plan(look_around(world_.tree, world_.proc,
                                    observe_sandbox(world_.tree, world_.proc, world_.clock,
                                                    order_.config, order_.assembled, record_, {})));
  }

  void note(const Report& report) {
    released_.steps += static_cast<std::uint32_t>(report.done());
    for (const auto& one : report.results) {
      const auto* thread = as<op::MoveThread>(one.step);
      if (const auto* move = move_of(one.step); move != nullptr && one.outcome == Outcome::done)
        moved_.insert(thread != nullptr ? thread->process : move->task.pid);
      if (one.outcome == Outcome::failed && !overtaken(one)) complain(one);
      if (one.outcome == Outcome::pending)
        released_.problems.push_back(fmt::format("{}: systemd was asked to lift {}, and has not",
                                                 unit_of(one.step.group), text_of(one.step).key));
    }
  }

  void complain(const StepResult& failed) {
    if (!still_busy(failed)) return released_.problems.push_back(failed.text);
    const auto who = who_is_in(world_.tree, failed.step.group);
    released_.problems.push_back(
        who.empty()
            ? failed.text
            : fmt::format("'{}:{}' cannot be removed, for somebody is in it who is not "
                          "proven to be the sandbox's{}; move him where he belongs",
                          failed.step.group.hierarchy.str(), failed.step.group.path.str(), who));
  }

  const PassWorld& world_;
  const PassOrder& order_;
  const Record& record_;
  std::set<Pid> moved_;
  Released released_;
};

}  // namespace

Released release_sandbox(const PassWorld& world, const PassOrder& order, const Record& record,
                         const std::function<void()>& pause) {
  return Releasing(world, order, record).run(pause);
}

Result<std::vector<Released>> release_node(const Config& config, const std::string& id,
                                           SystemdManager* systemd,
                                           const std::function<void()>& pause) {
  const auto found = FoundNode::find(config);
  if (!found) return forward(found.error());
  std::vector<Released> all;
  const auto world = (*found)->world(systemd);
  for (const auto& [one, record] : (*found)->records()) {
    if (record.found_groups.empty() || (!id.empty() && one.str() != id)) continue;
    const auto assembled = (*found)->inputs(one);
    all.push_back(release_sandbox(world, {config, assembled, std::nullopt}, record, pause));
  }
  return all;
}

}  // namespace kcg
