// SPDX-License-Identifier: Apache-2.0
//
// `threads`: each thread, its class and why, and where it is if that is not its place.
#include "base/text.hpp"
#include "show/group_tree.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// "CPU 3/KVM" of QEMU, "vcpu3" of Cloud Hypervisor, "fc_vcpu 3" of Firecracker: its number.
std::string vcpu_number(const std::string& comm) {
  const auto first = comm.find_first_of("0123456789");
  if (first == std::string::npos) return "";
  const auto end = comm.find_first_not_of("0123456789", first);
  return comm.substr(first, end - first);
}

std::string vcpu_text(const ThreadView& thread) {
  const bool told =
      thread.comm.find("CPU") != std::string::npos || thread.comm.find("vcpu") != std::string::npos;
  const auto number = told ? vcpu_number(thread.comm) : "";
  return number.empty() ? "a vCPU" : "vCPU " + number;
}

std::string role_text(ProcessRole role) {
  switch (role) {
    case ProcessRole::shim:
      return "a thread of the shim";
    case ProcessRole::vmm:
      return "a thread of the VMM";
    case ProcessRole::virtiofsd:
      return "a thread of virtiofsd";
    case ProcessRole::kernel_worker:
      return "the kernel made it for the VMM";
    case ProcessRole::descendant:
      break;
  }
  return "of a process that they started";
}

std::string because(const ThreadView& thread) {
  switch (thread.by) {
    case ClassSource::kvm:
      return fmt::format("KVM runs {} on it", vcpu_text(thread));
    case ClassSource::syscall:
      return fmt::format("it runs {} (KVM_RUN)", vcpu_text(thread));
    case ClassSource::guest_time:
      return "it spends time in the guest";
    case ClassSource::signals:
      return "it blocks a vCPU's signals";
    case ClassSource::name:
      return "its name says so";
    case ClassSource::fallback:
      return "nothing tells what it does";
    case ClassSource::role:
      break;
  }
  return role_text(thread.role);
}

Row thread_row(const Style& style, const SandboxView& view, const ThreadView& thread) {
  const bool wrong = misplaced(thread);
  const bool same = thread.group_now == thread.group_wanted;
  Row row{{{fmt::format("{}", thread.tid)},
           {std::string(name(thread.cls))},
           {because(thread), Paint::none, std::string(name(thread.by))},
           {thread.comm},
           {cpu_text(thread.cpu_usec)},
           {wrong ? "no" : "yes"},
           {thread.group_now},
           {same ? "" : thread.group_wanted}},
          {}};
  if (!wrong || !style.width) return row;
  const auto where =
      same ? "is elsewhere in another hierarchy"
           : fmt::format("is in {}, belongs in {}", short_path(view, thread.group_now),
                         short_path(view, thread.group_wanted));
  row.below.push_back({"! " + where, Paint::bad, ""});
  return row;
}

/// What stands before and behind a path in a text.
bool parts_paths(char c) {
  return std::string_view(" ,;:=()[]'\"").find(c) != std::string_view::npos;
}

}  // namespace

std::string render_threads(const Style& style, const SandboxView& view) {
  const std::vector<Column> columns = {{"TID", Align::right},
                                       {"CLASS"},
                                       {"BECAUSE"},
                                       {"NAME"},
                                       {"CPU TIME", Align::right},
                                       {"PLACED", Align::left, Shown::in_a_pipe},
                                       {"GROUP", Align::left, Shown::in_a_pipe},
                                       {"WANTED", Align::left, Shown::in_a_pipe}};
  std::vector<Row> rows;
  std::size_t wrong = 0;
  for (const auto& thread : view.threads) {
    rows.push_back(thread_row(style, view, thread));
    wrong += misplaced(thread) ? 1U : 0U;
  }
  auto out = table(style, columns, rows);
  if (style.width) out += render_whereabouts(style, view.threads.size(), wrong);
  return out;
}

std::string render_whereabouts(const Style& style, std::size_t all, std::size_t wrong) {
  if (all == 0) return "No thread of this sandbox runs.\n";
  if (wrong == 0) {
    const auto text = all == 1 ? "1 thread, it is where it belongs."
                               : fmt::format("All {} threads are where they belong.", all);
    return paragraph(style, 0, {text, Paint::good, ""});
  }
  const auto text = all == 1
                        ? std::string("1 thread, it is not where it belongs.")
                        : fmt::format("{} of {} threads are where they belong.", all - wrong, all);
  return paragraph(style, 0, {text, Paint::bad, ""});
}

std::string short_path(const SandboxView& view, const std::string& path) {
  const auto& group = view.sandbox_cgroup;
  if (group.empty() || group == "/") return path;
  if (path == group) return "the sandbox group";
  if (path.starts_with(group + "/")) return path.substr(group.size() + 1);
  const auto above = group.substr(0, group.rfind('/'));
  if (above.empty()) return path;
  if (path == above) return "the group above";
  return path.starts_with(above + "/") ? fmt::format("..{}", path.substr(above.size())) : path;
}

std::string seen_from(const std::string& group, const std::string& name, std::string text) {
  if (group.size() < 2) return text;
  for (auto at = text.find(group); at != std::string::npos; at = text.find(group, at + 1)) {
    const auto end = at + group.size();
    const bool begins = at == 0 || parts_paths(text[at - 1]);
    const bool inside = end + 1 < text.size() && text[end] == '/' && !parts_paths(text[end + 1]);
    const bool whole = end == text.size() || parts_paths(text[end]);
    if (!begins || (!inside && !whole)) continue;
    // A name stands without the quotes of a path.
    const bool quoted = whole && at > 0 && text[at - 1] == '\'' && text.substr(end, 1) == "'";
    if (inside)
      text.erase(at, group.size() + 1);
    else
      text.replace(quoted ? at - 1 : at, group.size() + (quoted ? 2 : 0), name);
  }
  return text;
}

std::string with_short_paths(const Style& style, const SandboxView& view, std::string text) {
  if (!style.width || style.wide) return text;
  text = seen_from(view.sandbox_cgroup, "the sandbox group", std::move(text));
  return shorter_id(style, view.id, seen_from(view.pod_cgroup, "the pod's group", std::move(text)));
}

}  // namespace kcg::cgctl
