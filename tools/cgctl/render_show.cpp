// SPDX-License-Identifier: Apache-2.0
//
// `show`: everything about one sandbox.
#include <array>

#include "plan/documents.hpp"
#include "plan/group_members.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// One fact per line; facts that are not known have none.
class Facts final {
 public:
  explicit Facts(const Style& style) : style_(style) {}
  void add(std::string_view label, std::string_view value, Paint paint = Paint::none) {
    if (value.empty()) return;
    text_ += fmt::format("{:>13}  {}\n", label, painted(style_, paint, printable(value)));
  }
  void title(std::string_view text) {
    text_ += fmt::format("\n{}\n", painted(style_, Paint::strong, std::string(text)));
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const Style& style_;
  std::string text_;
};

std::string pid_text(Pid pid) { return pid == 0 ? "" : fmt::format("{}", pid); }

std::string amount_text(std::int64_t value) {
  return value > 0 ? bytes_text(static_cast<std::uint64_t>(value)) : "unlimited";
}

std::string cpu_limit_text(const Resources& given) {
  if (!given.cpu_quota) return "no CPU limit given";
  if (*given.cpu_quota <= 0) return "unlimited CPU";
  return fmt::format("{}/{} us CPU", *given.cpu_quota, given.cpu_period.value_or(100'000));
}

void add_memory(Facts& facts, const SandboxView& view) {
  const auto used = view.memory_used ? bytes_text(*view.memory_used) : "unknown";
  const auto limit = view.memory_limit ? bytes_text(*view.memory_limit) : "unlimited";
  facts.add("memory", fmt::format("{} used, limit {}", used, limit));
  facts.add("overhead",
            fmt::format("{} memory, {} millicores ({})", bytes_text(view.overhead.memory_bytes),
                        view.overhead.cpu_milli, name(view.overhead.source)));
}

void add_conditions(const Style& style, Facts& facts, const SandboxView& view) {
  if (view.conditions.empty()) return;
  facts.title("conditions");
  for (const auto& one : view.conditions) {
    const auto& about = info(one.condition.condition);
    const auto since = one.since == 0 ? "" : fmt::format(" since {}", rfc3339(one.since));
    const auto head = fmt::format("{} ({}){}", about.name, name(about.severity), since);
    facts.line(fmt::format("  {}", painted(style, paint_of(about.severity), head)));
    facts.line(fmt::format("    {}", printable(one.condition.text)));
  }
}

void add_containers(Facts& facts, const SandboxView& view) {
  if (view.containers.empty()) return;
  facts.title("containers");
  for (const auto& one : view.containers) {
    const auto& given = one.resources;
    const auto memory = given.memory_limit ? amount_text(*given.memory_limit) + " memory"
                                           : std::string("no memory limit given");
    facts.line(fmt::format("  {} {}: {}, {} ({}{})", printable(one.id.substr(0, 12)),
                           printable(one.name), memory, cpu_limit_text(given), name(one.source),
                           one.stopped ? ", stopped" : ""));
  }
}

void add_threads(Facts& facts, const SandboxView& view) {
  std::array<std::size_t, 4> count{};
  std::size_t wrong = 0;
  for (const auto& thread : view.threads) {
    ++count.at(static_cast<std::size_t>(thread.cls));
    wrong += misplaced(thread) ? 1U : 0U;
  }
  facts.add("threads",
            fmt::format("{} vcpu, {} io, {} vmm, {} shim", count[0], count[1], count[2], count[3]));
  if (wrong > 0) facts.add("misplaced", fmt::format("{}", wrong), Paint::bad);
}

}  // namespace

std::string render_show(const Style& style, const SandboxView& view) {
  Facts facts(style);
  facts.add("sandbox", view.id, Paint::strong);
  facts.add("pod", pod_text(view));
  facts.add("pod uid", view.pod_uid);
  facts.add("handler", view.handler);
  facts.add("engine", name(view.engine));
  facts.add("state", name(view.state), paint_of(view.state));
  facts.add("layout", fmt::format("{} (from {})", name(view.layout), name(view.layout_source)));
  facts.add("driver", name(view.driver));
  facts.add("hypervisor", name(view.hypervisor));
  facts.add("shim pid", pid_text(view.shim_pid));
  facts.add("vmm pid", pid_text(view.vmm_pid));
  facts.add("vcpus", fmt::format("{}", view.vcpus));
  add_threads(facts, view);
  if (view.created != 0)
    facts.add("running since", fmt::format("{} ({})", rfc3339(view.created),
                                           duration_text(style.now - view.created)));
  add_memory(facts, view);
  facts.add("pod group", view.pod_cgroup);
  facts.add("sandbox group", view.sandbox_cgroup);
  facts.add("overhead grp", view.overhead_cgroup);
  add_containers(facts, view);
  add_conditions(style, facts, view);
  return facts.text();
}

}  // namespace kcg::cgctl
