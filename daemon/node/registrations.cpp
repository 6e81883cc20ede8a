// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/registrations.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "daemon/manager.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

/// Deeper than any process tree; a bound for what is read while it changes.
constexpr int kDeepest = 64;

bool above_or_self(ProcView& proc, Pid pid, Pid below) {
  for (int step = 0; step < kDeepest && below > 0; ++step) {
    if (below == pid) return true;
    const auto stat = proc.stat(below);
    if (!stat) return false;
    below = stat->ppid;
  }
  return false;
}

}  // namespace

std::vector<std::string> Registrations::load() {
  std::vector<std::string> dropped;
  all_ = store_.registrations();
  for (auto it = all_.begin(); it != all_.end();) {
    const auto refused = problem(it->first, it->second);
    const auto id = it->first;
    ++it;
    if (!refused) continue;
    const auto gone = drop(id);
    dropped.push_back(fmt::format("registration of '{}' is dropped: {}{}", id.str(), *refused,
                                  gone ? "" : "; its file stays: " + gone.error().text));
    all_.erase(id);
  }
  return dropped;
}

Status Registrations::set(const SandboxId& id, const Registration& registration, std::size_t most) {
  if (!all_.contains(id) && all_.size() >= most)
    return fail(static_cast<int>(ManagerError::limit_reached),
                "{} sandboxes are registered already ([limits] max_sandboxes)", all_.size());
  if (const auto refused = problem(id, registration))
    return fail(static_cast<int>(ManagerError::invalid_argument), "{}", *refused);
  if (auto saved = store_.save(id, registration); !saved) return saved;
  all_.insert_or_assign(id, registration);
  return {};
}

Status Registrations::drop(const SandboxId& id) {
  if (auto removed = store_.remove(id); !removed) return removed;
  all_.erase(id);
  return {};
}

std::optional<std::string> Registrations::problem(const SandboxId& id,
                                                  const Registration& registration) const {
  RegistrationFacts facts;
  if (auto own = proc_.groups(::getpid(), host_)) facts.own_groups = *std::move(own);
  const auto add = [&](const char* key, const std::optional<TaskKey>& task) {
    if (!task) return;
    if (auto process = look_at(id, key, *task)) facts.processes.push_back(*std::move(process));
  };
  add("ShimPidFd", registration.shim);
  add("VmmPidFd", registration.vmm);
  return registration_problem(registration, facts);
}

/// nullopt: it has ended.
std::optional<RegisteredProcess> Registrations::look_at(const SandboxId& id, const char* key,
                                                        const TaskKey& task) const {
  RegisteredProcess process;
  process.key = key;
  process.task = task;
  if (task.pid <= 1) return process;
  if (ended(task)) return std::nullopt;
  const auto facts = proc_.facts(task.pid);
  if (facts) {
    process.kernel_thread = facts->kernel_thread;
    process.same_pid_ns = facts->same_pid_ns;
  }
  process.ours = above_or_self(proc_, task.pid, ::getpid());
  process.other_sandbox = other_owner(id, task.pid);
  add_descendants(id, process);
  return process;
}

std::string Registrations::other_owner(const SandboxId& id, Pid pid) const {
  if (const auto owner = owner_of_(pid); owner && !(*owner == id)) return owner->str();
  for (const auto& [other, registration] : all_) {
    if (other == id) continue;
    for (const auto& task : {registration.shim, registration.vmm})
      if (task && task->pid == pid && !ended(*task)) return other.str();
  }
  return "";
}

void Registrations::add_descendants(const SandboxId& id, RegisteredProcess& process) const {
  std::vector<Pid> below = {process.task.pid};
  for (std::size_t at = 0; at < below.size() && below.size() <= kMostDescendants + 1; ++at) {
    const auto children = proc_.children(below[at]);
    if (!children) continue;
    for (const Pid child : *children) {
      below.push_back(child);
      if (process.other_sandbox.empty())
        if (const auto owner = owner_of_(child); owner && !(*owner == id))
          process.other_sandbox = owner->str();
    }
  }
  process.descendants = below.size() - 1;
}

/// What cannot be read has not ended.
bool Registrations::ended(const TaskKey& task) const {
  const auto stat = proc_.stat(task.pid);
  if (stat) return stat->key != task || stat->ending();
  return errnos::no_task(stat.error().code);
}

bool Registrations::names(const SandboxId& id, Pid pid) const {
  const auto it = all_.find(id);
  if (it == all_.end()) return false;
  const auto is = [pid](const std::optional<TaskKey>& task) { return task && task->pid == pid; };
  return is(it->second.shim) || is(it->second.vmm);
}

std::optional<std::vector<TaskKey>> Registrations::last_of(const SandboxId& id,
                                                           const Observed& observed) const {
  const auto it = all_.find(id);
  if (it == all_.end() || !nothing_left(observed)) return std::nullopt;
  std::vector<TaskKey> last;
  for (const auto& task : {it->second.shim, it->second.vmm})
    if (task && !ended(*task)) last.push_back(*task);
  return last;
}

}  // namespace kcg
