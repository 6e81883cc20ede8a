// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd/scopes.hpp"

#include <cerrno>
#include <utility>

#include "proc/pidfd.hpp"

namespace kcg {

namespace {

using systemd::Answer;
using systemd::kManager;
using systemd::kManagerPath;

constexpr const char* kUnitExists = "org.freedesktop.systemd1.UnitExists";
constexpr const char* kNoSuchUnit = "org.freedesktop.systemd1.NoSuchUnit";
constexpr unsigned kMostRequests = 3;
/// PIDFDs came with it.
constexpr unsigned kPidfdVersion = 253;

tl::unexpected<Error> not_reached(const std::string& reason) {
  return fail(ENOTCONN, "systemd's manager is not reached: {}; see [systemd] address", reason);
}

}  // namespace

SystemdScopes::SystemdScopes(Loop& loop, ProcView& proc, const std::string& address, SystemdLog log,
                             std::chrono::microseconds patience)
    : proc_(proc),
      link_(loop, address, patience,
            {[this] { ready(); }, [this] { left(); },
             [this](const systemd::JobEnd& end) { job_ended(end); }, std::move(log)}) {}

SystemdScopes::~SystemdScopes() {
  // They hold the connection.
  starts_.clear();
  limits_.clear();
}

// --- scopes -----------------------------------------------------------------------------------

Status SystemdScopes::start_scope(const ScopeRequest& request) {
  if (!link_.up()) return not_reached(link_.reason());
  Start start;
  start.request = request;
  if (link_.ready())
    if (auto sent = send(start); !sent) return sent;
  starts_.insert_or_assign(request.unit, std::move(start));
  return {};
}

Status SystemdScopes::send(Start& start) {
  const auto& request = start.request;
  const auto limits = unit_properties(request.limits);
  if (!limits) return forward(limits.error(), request.unit);
  const auto pidfd = open_pidfd(proc_, request.member);
  if (!pidfd) return forward(pidfd.error(), request.unit);
  const auto message = link_.new_call(kManagerPath, kManager, "StartTransientUnit");
  if (!message) return forward(message.error());
  const bool pidfds = link_.version() >= kPidfdVersion;
  if (auto put = systemd::put_start(message->get(), request, *limits, *pidfd, pidfds); !put)
    return forward(put.error(), request.unit);
  auto call = ask(*message, request.unit, &SystemdScopes::started);
  if (!call) return forward(call.error());
  start.call = std::move(*call);
  start.phase = Phase::asked;
  ++start.requests;
  return {};
}

Result<systemd::SlotPtr> SystemdScopes::ask(const systemd::MessagePtr& message,
                                            const std::string& unit, Then then) {
  return link_.call(message,
                    [this, unit, then](const Answer& answer) { (this->*then)(unit, answer); });
}

void SystemdScopes::started(const std::string& unit, const Answer& answer) {
  auto& start = starts_.at(unit);
  if (!answer) {
    const auto& error = answer.error();
    if (error.name == kUnitExists) return or_end(unit, inquire(start));
    if (!error.unanswered()) return end(unit, error.str());
    return forget_job(start);
  }
  const char* job = nullptr;
  if (sd_bus_message_read_basic(*answer, 'o', &job) < 0)
    return end(unit, "systemd's answer names no job");
  start.phase = Phase::working;
  start.job = job;
  // Messages come in the order in which they were sent, but nothing says that the job's end is not
  // sent first.
  if (const auto it = start.ended.find(start.job); it != start.ended.end())
    finish(unit, std::string(it->second));
}

void SystemdScopes::job_ended(const systemd::JobEnd& end) {
  const auto it = starts_.find(end.unit);
  if (it == starts_.end()) return;
  if (it->second.phase == Phase::asked) it->second.ended[end.job] = end.result;
  if (it->second.phase == Phase::working && it->second.job == end.job) finish(end.unit, end.result);
}

void SystemdScopes::finish(const std::string& unit, const std::string& result) {
  end(unit, result == "done" ? "" : fmt::format("the job ended with '{}'", result));
}

/// What became of it, or who has its name already?
Status SystemdScopes::inquire(Start& start) {
  const auto path = systemd::unit_path(start.request.unit);
  if (!path) return forward(path.error());
  const auto message = link_.new_call(*path, "org.freedesktop.DBus.Properties", "GetAll");
  if (!message) return forward(message.error());
  const int r = sd_bus_message_append(message->get(), "s", "org.freedesktop.systemd1.Unit");
  if (r < 0) return fail(-r, "GetAll: {}", errno_text(-r));
  auto call = ask(*message, start.request.unit, &SystemdScopes::seen);
  if (!call) return forward(call.error());
  start.call = std::move(*call);
  start.phase = Phase::asked;
  return {};
}

void SystemdScopes::seen(const std::string& unit, const Answer& answer) {
  auto& start = starts_.at(unit);
  if (!answer) {
    if (!answer.error().unanswered()) return end(unit, answer.error().str());
    return forget_job(start);
  }
  const auto state = systemd::read_unit(*answer);
  if (!state) return end(unit, state.error().text);
  judge(unit, start, *state);
}

void SystemdScopes::judge(const std::string& unit, Start& start, const systemd::UnitState& state) {
  if (state.active == "inactive" && state.job == "/")
    return once_more(unit, start, "systemd has the unit and does not start it");
  if (!state.ours())
    return end(unit, fmt::format("there is a unit of this name that is not ours ('{}', {}): it is "
                                 "left alone; stop it if nobody needs it",
                                 state.description, state.active));
  if (state.job != "/") {
    start.job = state.job;
    start.phase = Phase::working;
    if (const auto it = start.ended.find(start.job); it != start.ended.end())
      finish(unit, std::string(it->second));
    return;
  }
  if (state.active == "failed") return or_end(unit, reset(start));
  // Active: left by an earlier life of the daemon, or made while systemd was away. The pass sees
  // who is in it.
  end(unit, state.active == "active" ? "" : fmt::format("the unit is {}", state.active));
}

/// A failed unit of ours keeps its name until it is told to forget.
Status SystemdScopes::reset(Start& start) {
  const auto message = link_.new_call(kManagerPath, kManager, "ResetFailedUnit");
  if (!message) return forward(message.error());
  const int r = sd_bus_message_append(message->get(), "s", start.request.unit.c_str());
  if (r < 0) return fail(-r, "ResetFailedUnit: {}", errno_text(-r));
  auto call = ask(*message, start.request.unit, &SystemdScopes::was_reset);
  if (!call) return forward(call.error());
  start.call = std::move(*call);
  return {};
}

void SystemdScopes::was_reset(const std::string& unit, const Answer& answer) {
  auto& start = starts_.at(unit);
  once_more(unit, start, answer ? "the unit has failed and stays so" : answer.error().str());
}

void SystemdScopes::once_more(const std::string& unit, Start& start, const std::string& problem) {
  if (start.requests >= kMostRequests) return end(unit, problem);
  start.ended.clear();
  or_end(unit, send(start));
}

void SystemdScopes::or_end(const std::string& unit, const Status& status) {
  if (!status) end(unit, status.error().text);
}

void SystemdScopes::end(const std::string& unit, const std::string& problem) {
  const std::string name = unit;  // it may live in what is erased
  starts_.erase(name);
  tell(name, problem);
}

// --- limits -----------------------------------------------------------------------------------

Status SystemdScopes::set_limits(const std::string& unit, const std::vector<WantedFile>& limits) {
  if (!link_.up()) return not_reached(link_.reason());
  const auto properties = unit_properties(limits);
  if (!properties) return forward(properties.error(), unit);
  const auto message = link_.new_call(kManagerPath, kManager, "SetUnitProperties");
  if (!message) return forward(message.error());
  if (auto put = systemd::put_limits(message->get(), unit, *properties); !put)
    return forward(put.error(), unit);
  // systemd answers before it writes the files, but writes them before it reads the next message.
  const auto after = link_.new_call(kManagerPath, "org.freedesktop.DBus.Peer", "Ping");
  if (!after) return forward(after.error());
  auto call = ask(*message, unit, &SystemdScopes::limits_answered);
  if (!call) return forward(call.error());
  auto ping = ask(*after, unit, &SystemdScopes::limits_written);
  if (!ping) return forward(ping.error());
  auto& under_way = limits_[unit];
  ++under_way.open;
  under_way.calls.push_back(std::move(*call));
  under_way.calls.push_back(std::move(*ping));
  return {};
}

void SystemdScopes::limits_answered(const std::string& unit, const Answer& answer) {
  if (answer) return;
  // The next look tells whether it was done, and whether there is a scope at all.
  const auto& error = answer.error();
  if (!error.unanswered() && error.name != kNoSuchUnit) limits_.at(unit).problem = error.str();
}

void SystemdScopes::limits_written(const std::string& unit, const Answer&) {
  auto& under_way = limits_.at(unit);
  if (--under_way.open > 0) return;
  const auto problem = std::move(under_way.problem);
  const std::string name = unit;
  limits_.erase(name);
  tell(name, problem);
}

// --- the link ---------------------------------------------------------------------------------

void SystemdScopes::ready() {
  std::vector<std::pair<std::string, std::string>> failed;
  for (auto& [unit, start] : starts_) {
    const auto asked = start.phase == Phase::queued ? send(start) : inquire(start);
    if (!asked) failed.emplace_back(unit, asked.error().text);
  }
  for (const auto& [unit, problem] : failed) end(unit, problem);
  if (std::exchange(known_, true) && sink_) sink_(Hint{});
}

/// Neither answers nor a job's end will be heard of.
void SystemdScopes::left() {
  for (auto& [unit, start] : starts_)
    if (start.phase != Phase::queued) forget_job(start);
  // Whether limits were written is seen in the kernel.
  for (const auto& [unit, limits] : std::exchange(limits_, {})) tell(unit, "");
}

void SystemdScopes::forget_job(Start& start) {
  start.phase = Phase::unknown;
  start.job.clear();
  start.ended.clear();
  start.call.reset();
}

void SystemdScopes::tell(const std::string& unit, const std::string& problem) {
  Hint hint{HintKind::job, unit, 0, problem};
  if (sink_) sink_(hint);
}

}  // namespace kcg
