// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/text.hpp"
#include "support/live/kernel.hpp"

namespace kcg::bench {

namespace {

/// "key=value" of an event; values of ours have no blanks.
std::string_view field(std::string_view line, std::string_view key) {
  for (const auto word : words(line))
    if (word.size() > key.size() && word.substr(0, key.size()) == key && word[key.size()] == '=')
      return word.substr(key.size() + 1);
  return {};
}

std::optional<EventKind> kind_of(std::string_view name) {
  if (name == "sched_process_exec:") return EventKind::exec;
  if (name == "task_newtask:") return EventKind::new_task;
  if (name == "cgroup_attach_task:") return EventKind::attach;
  if (name == "sys_ioctl(fd:") return EventKind::kvm_run;  // only that request passes the filter
  return std::nullopt;
}

/// "2734.844919:" in seconds.
Micros stamp(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos || text.size() < dot + 7) return Micros(0);
  return std::chrono::seconds(parse_i64(text.substr(0, dot)).value_or(0)) +
         Micros(parse_i64(text.substr(dot + 1, 6)).value_or(0));
}

/// "   comm-pid  ": the task that was running.
int running_task(std::string_view prefix) {
  const auto text = trim(prefix);
  return parse_pid(text.substr(text.rfind('-') + 1)).value_or(0);
}

std::optional<Event> parse_line(std::string_view line) {
  // "   comm-pid  [cpu] flags  time: name: fields"; the comm may contain blanks.
  const auto cpu = line.find("] ");
  const auto bracket = line.rfind('[', cpu);
  if (cpu == std::string_view::npos || bracket == std::string_view::npos) return std::nullopt;
  const auto fields = words(line.substr(cpu + 2));
  if (fields.size() < 4) return std::nullopt;
  const auto kind = kind_of(fields[2]);
  if (!kind) return std::nullopt;
  const int pid = *kind == EventKind::kvm_run ? running_task(line.substr(0, bracket))
                                              : parse_pid(field(line, "pid")).value_or(0);
  return Event{*kind, stamp(fields[1]), pid,
               static_cast<int>(parse_i64(field(line, "dst_root")).value_or(0)),
               std::string(field(line, "dst_path"))};
}

void need(const std::string& path, const std::string& text) {
  if (live::scribble(path, text) != 0)
    throw std::runtime_error("the bench needs tracepoints: cannot write " + path);
}

constexpr std::string_view kInstance = "kcg-bench-";
/// Of each CPU: all of a guest that boots may run on one.
constexpr unsigned kLeastMebibytes = 4;

/// An instance of a bench that was killed: it slows each system call of the node until it is gone.
bool is_left_behind(const std::string& name) {
  if (!name.starts_with(kInstance)) return false;
  const auto maker = parse_i64(name.substr(kInstance.size()));
  return maker && ::kill(static_cast<pid_t>(*maker), 0) != 0 && errno == ESRCH;
}

void remove_left_behind(const std::string& instances) {
  std::error_code unreadable;  // ignored: what cannot be listed is not removed
  for (const auto& entry : std::filesystem::directory_iterator(instances, unreadable))
    if (is_left_behind(entry.path().filename())) ::rmdir(entry.path().c_str());
}

/// Events that found no room: the oldest are lost.
std::int64_t overrun(const std::string& instance) {
  std::int64_t sum = 0;
  for (const auto& cpu : std::filesystem::directory_iterator(instance + "/per_cpu")) {
    const auto stats = live::slurp(cpu.path().string() + "/stats");
    for (const auto line : lines(stats))
      if (const auto all = words(line); all.size() == 2 && all[0] == "overrun:")
        sum += parse_i64(all[1]).value_or(0);
  }
  return sum;
}

}  // namespace

std::vector<Event> parse_trace(std::string_view text) {
  std::vector<Event> events;
  for (const auto line : lines(text))
    if (auto event = parse_line(line)) events.push_back(std::move(*event));
  return events;
}

Trace::Trace(unsigned mebibytes) : mount_(fmt::format("/tmp/kcg-bench-trace-{}", ::getpid())) {
  ::mkdir(mount_.c_str(), 0700);
  if (::mount("none", mount_.c_str(), "tracefs", 0, nullptr) != 0)
    throw std::runtime_error("the bench needs tracefs, and this kernel has none");
  remove_left_behind(mount_ + "/instances");
  instance_ = fmt::format("{}/instances/{}{}", mount_, kInstance, ::getpid());
  ::mkdir(instance_.c_str(), 0700);
  need(instance_ + "/trace_clock", "mono");
  const auto each = mebibytes / std::max(1U, std::thread::hardware_concurrency());
  need(instance_ + "/buffer_size_kb", std::to_string(std::max(each, kLeastMebibytes) * 1024));
  for (const char* const event :
       {"sched/sched_process_exec", "task/task_newtask", "cgroup/cgroup_attach_task"})
    need(instance_ + "/events/" + event + "/enable", "1");
  need(instance_ + "/events/syscalls/sys_enter_ioctl/filter", "cmd == 0xae80");  // KVM_RUN
  need(instance_ + "/events/syscalls/sys_enter_ioctl/enable", "1");
}

Trace::~Trace() {
  ::rmdir(instance_.c_str());
  ::umount2(mount_.c_str(), MNT_DETACH);
  ::rmdir(mount_.c_str());
}

void Trace::clear() const {
  (void)::close(::open((instance_ + "/trace").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
}

std::vector<Event> Trace::events() const {
  if (const auto lost = overrun(instance_); lost > 0)
    throw std::runtime_error(
        fmt::format("the bench's trace has lost {} events: ask for fewer lives", lost));
  return parse_trace(live::slurp(instance_ + "/trace"));
}

}  // namespace kcg::bench
