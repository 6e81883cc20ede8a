// SPDX-License-Identifier: Apache-2.0
//
// `show`: everything about one sandbox.
#include <array>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "show/amiss.hpp"
#include "show/group_tree.hpp"
#include "show/view_documents.hpp"
#include "tools/cgctl/limits.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// One fact per line; facts that are not known have none.
class Facts final {
 public:
  explicit Facts(const Style& style) : style_(style) {}
  void add(std::string_view label, std::string_view value, Paint paint = Paint::none) {
    if (value.empty()) return;
    text_ += hanging(style_, fmt::format("{:>13}  ", label), {std::string(value), paint, ""});
  }
  void title(std::string_view text) {
    text_ += fmt::format("\n{}\n", painted(style_, Paint::strong, std::string(text)));
  }
  void line(std::size_t indent, const std::string& text, Paint paint = Paint::none) {
    text_ += paragraph(style_, indent, {text, paint, ""});
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const Style& style_;
  std::string text_;
};

std::string pid_text(Pid pid) { return pid == 0 ? "" : fmt::format("{}", pid); }

std::string given_memory_text(const Resources& given) {
  if (!given.memory_limit) return "no memory limit given";
  return *given.memory_limit > 0 ? size_text(static_cast<std::uint64_t>(*given.memory_limit))
                                 : "unlimited memory";
}

std::string given_cpu_text(const Resources& given) {
  if (!given.cpu_quota) return "no CPU limit given";
  if (*given.cpu_quota <= 0) return "unlimited CPU";
  const auto period = given.cpu_period.value_or(100'000);
  return cpus_text(period == 0 ? 0 : static_cast<std::uint64_t>(*given.cpu_quota) * 1000 / period);
}

std::string overhead_text(const Style& style, const Overhead& overhead) {
  const auto raw = style.raw ? fmt::format(", {} bytes", overhead.memory_bytes) : "";
  return fmt::format("{} and {} (from: {}{})", size_text(overhead.memory_bytes),
                     cpus_text(overhead.cpu_milli), name(overhead.source), raw);
}

std::string bytes_text(const Style& style, std::uint64_t bytes) {
  const auto raw = style.raw ? fmt::format(" ({} bytes)", bytes) : "";
  return size_text(bytes) + raw;
}

/// What the VM really takes beside its guest; "" where nobody has measured it.
std::string overhead_used_text(const Style& style, const SandboxView& view) {
  if (!view.overhead_peak) return "";
  const auto now = view.overhead_used ? bytes_text(style, *view.overhead_used) : "not known now";
  return fmt::format("{}, at most {}", now, bytes_text(style, *view.overhead_peak));
}

std::string memory_line(const Style& style, const SandboxView& view) {
  auto text = memory_text(view.memory_used, view.memory_limit);
  if (text.empty()) text = "not known";
  text += memory_sum_text(view);
  if (style.raw && view.memory_limit) text += fmt::format(" ({} bytes)", *view.memory_limit);
  return text;
}

void add_conditions(Facts& facts, const Style& style, const SandboxView& view) {
  const auto now = amiss(view);
  if (view.conditions.empty() && now.empty()) return;
  facts.title("What is wrong");
  for (const auto& one : view.conditions) {
    const auto& about = info(one.condition.condition);
    const auto since =
        one.since == 0 ? "" : fmt::format(", for {}", age_text(style.now - one.since));
    facts.line(2, fmt::format("{} ({}{})", about.name, name(one.condition.severity), since),
               paint_of(one.condition.severity));
    facts.line(4, with_short_paths(style, view, one.condition.text));
  }
  for (const auto& line : now) facts.line(2, with_short_paths(style, view, line), Paint::bad);
  facts.title("What it is");
}

/// Of what was said.
std::string requests_text(const PodAsked& asked) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (asked.cpu_request_milli) add(cpus_text(*asked.cpu_request_milli) + " requested");
  if (asked.limits.memory) add("at most " + size_text(*asked.limits.memory));
  if (asked.limits.cpu_milli) add("at most " + cpus_text(*asked.limits.cpu_milli));
  return out.empty() ? out : fmt::format("{} (from: {})", out, asked.requests_source);
}

std::string granted_text(const PodAsked& asked) {
  if (asked.overhead_source.empty()) return "";
  const auto memory = asked.overhead.memory ? size_text(*asked.overhead.memory) : "no memory";
  const auto cpu = asked.overhead.cpu_milli ? cpus_text(*asked.overhead.cpu_milli) : "no CPU";
  return fmt::format("{} and {} (from: {})", memory, cpu, asked.overhead_source);
}

std::string labels_text(const PodAsked& asked) {
  std::string out;
  for (const auto& [key, value] : asked.labels)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", key, value);
  return out;
}

void add_asked(Facts& facts, const PodAsked& asked) {
  facts.add("pod requests", requests_text(asked));
  facts.add("pod overhead", granted_text(asked));
  facts.add("pod labels", labels_text(asked));
}

void add_containers(Facts& facts, const SandboxView& view) {
  if (view.containers.empty()) return;
  facts.title("Containers");
  for (const auto& one : view.containers)
    facts.line(2, fmt::format("{} {}: {}, {} (from: {}{})", one.id.substr(0, kShortId), one.name,
                              given_memory_text(one.resources), given_cpu_text(one.resources),
                              name(one.source), one.stopped ? ", stopped" : ""));
}

void add_threads(Facts& facts, const SandboxView& view) {
  std::array<std::size_t, 4> count{};
  for (const auto& thread : view.threads) ++count.at(static_cast<std::size_t>(thread.cls));
  facts.add("threads",
            fmt::format("{} vcpu, {} io, {} vmm, {} shim", count[0], count[1], count[2], count[3]));
}

/// The pod's group in full, the others as seen from it.
void add_groups(Facts& facts, const Style& style, const SandboxView& view) {
  facts.add("pod group", view.pod_cgroup);
  const auto relative = [&](const char* label, const std::string& path) {
    const bool below = path.starts_with(view.pod_cgroup + "/") && !style.wide;
    const auto from_pod = below ? path.substr(view.pod_cgroup.size() + 1) : path;
    facts.add(label, shorter_id(style, view.id, from_pod));
  };
  relative("its group", view.sandbox_cgroup);
  relative("overhead grp", view.overhead_cgroup);
}

std::string answer(const Style& style, const SandboxView& view) {
  const auto text =
      failing(view) ? fmt::format("It needs a look. Why: cgctl explain {}", title(view))
      : view.state == SandboxState::placed ? std::string("It is as wanted.")
                                           : fmt::format("It is {}.", name(view.state));
  return paragraph(style, 0, {text, failing(view) ? Paint::warning : Paint::good, ""});
}

}  // namespace

std::string render_show(const Style& style, const SandboxView& view, const std::string& events) {
  Facts facts(style);
  facts.add("pod", view.pod_name.empty() ? "" : title(view), Paint::strong);
  facts.add("sandbox", view.id);
  facts.add("state", name(view.state), paint_of(view.state));
  if (view.created != 0)
    facts.add("running since", fmt::format("{} ({})", rfc3339(view.created),
                                           duration_text(style.now - view.created)));
  add_conditions(facts, style, view);  // what people ask for, on their first screen
  facts.add("memory", memory_line(style, view));
  facts.add("overhead", overhead_text(style, view.overhead));
  facts.add(
      "really used", overhead_used_text(style, view),
      view.overhead_peak.value_or(0) > view.overhead.memory_bytes ? Paint::warning : Paint::none);
  facts.add("cpu used", view.cpu_milli ? cpus_text(*view.cpu_milli) : "");
  facts.add("vcpus", fmt::format("{}", view.vcpus));
  add_threads(facts, view);
  facts.add("hypervisor", name(view.hypervisor));
  facts.add("vmm pid", pid_text(view.vmm_pid));
  facts.add("shim pid", pid_text(view.shim_pid));
  add_groups(facts, style, view);
  facts.add("layout", fmt::format("{} (from: {}), {} driver", name(view.layout),
                                  name(view.layout_source), name(view.driver)));
  facts.add("engine", view.engine == Engine::none ? "" : name(view.engine));
  facts.add("handler", view.handler);
  facts.add("pod uid", view.pod_uid);
  add_asked(facts, view.asked);
  add_containers(facts, view);
  if (!events.empty()) facts.title("What happened");
  return facts.text() + events + "\n" + answer(style, view);
}

}  // namespace kcg::cgctl
