// SPDX-License-Identifier: Apache-2.0
#include "sizing/request.hpp"

#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "kernel/limit_text.hpp"

namespace kcg {

namespace {

std::optional<std::uint64_t> number(const GroupState* group, const char* file) {
  const auto text = group == nullptr ? std::nullopt : group->file(file);
  return text ? parse_u64(*text) : std::nullopt;
}

/// Quota of one group as microseconds per 100 ms; nullopt: unlimited.
std::optional<std::uint64_t> quota_of(const GroupState* group) {
  const auto quota = number(group, "cpu.cfs_quota_us");
  const auto period = number(group, "cpu.cfs_period_us");
  if (!quota || !period || *period == 0) return std::nullopt;
  return *quota * kPeriodUs / *period;
}

/// Smallest limits among the ancestors of the sandbox group.
SizingParent parent_of(const Observed& observed, const CgroupPath& sandbox) {
  SizingParent parent;
  if (auto ceiling = memory_ceiling(observed, sandbox.parent())) {
    parent.smallest_memory_max = ceiling->bytes;
    parent.smallest_memory_group = std::move(ceiling->group);
  }
  parent.pod_group = sandbox.parent().str();
  for (const auto& h : observed.host.hierarchies) {
    if (h.unified)
      parent.pod_weight = number(observed.group({h.name, sandbox.parent()}), "cpu.weight");
    if (h.unified || !h.has("cpu")) continue;
    for (CgroupPath path = sandbox.parent();; path = path.parent()) {
      const auto* group = observed.group({h.name, path});
      const auto quota = quota_of(group);
      if (quota && (!parent.smallest_quota_us || *quota < *parent.smallest_quota_us)) {
        parent.smallest_quota_us = quota;
        parent.smallest_quota_group = path.str();
      }
      if (path.is_root()) break;
    }
  }
  return parent;
}

/// "2048" (MiB), "2048M", "2g": as QEMU reads sizes, without its fractions.
std::optional<std::uint64_t> qemu_size(std::string_view text) {
  constexpr std::string_view kSuffixes = "bkmgt";
  unsigned shift = 20;
  if (!text.empty()) {
    const char last = static_cast<char>(text.back() | 0x20);  // QEMU takes both cases
    const auto at = kSuffixes.find(last);
    if (at != std::string_view::npos) {
      shift = static_cast<unsigned>(at) * 10;
      text.remove_suffix(1);
    }
  }
  const auto count = parse_u64(text);
  if (!count || *count == 0 || *count > (kUnlimitedMemory >> shift)) return std::nullopt;
  return *count << shift;
}

/// The size in "2048,slots=10,maxmem=8G" or "slots=10,size=2G".
std::optional<std::uint64_t> memory_option(std::string_view option) {
  constexpr std::string_view kSize = "size=";
  const auto parts = split(option, ',');
  for (const auto part : parts)
    if (part.starts_with(kSize)) return qemu_size(part.substr(kSize.size()));
  return qemu_size(parts.front());
}

}  // namespace

std::optional<MemoryCeiling> memory_ceiling(const Observed& observed, const CgroupPath& group) {
  std::optional<MemoryCeiling> found;
  for (const auto& h : observed.host.hierarchies) {
    if (!h.unified && !h.has("memory")) continue;
    for (CgroupPath path = group;; path = path.parent()) {
      const auto bytes = number(observed.group({h.name, path}),
                                h.unified ? "memory.max" : "memory.limit_in_bytes");
      if (bytes && *bytes < kUnlimitedMemory && (!found || *bytes < found->bytes))
        found = MemoryCeiling{*bytes, std::string(path.str())};
      if (path.is_root()) break;
    }
  }
  return found;
}

std::optional<std::uint64_t> qemu_memory(const std::vector<std::string>& args) {
  std::optional<std::uint64_t> found;
  for (std::size_t i = 0; i + 1 < args.size(); ++i)
    if (args[i] == "-m" || args[i] == "--m") found = memory_option(args[i + 1]);
  return found;
}

/// A pod's containers are made after its guest has booted; the container of a pod-less sandbox is
/// the sandbox itself, and Kata says when it runs.
History current_history(const Observed& observed) {
  History history = observed.history;
  const auto& inputs = observed.inputs;
  const bool runs = inputs.pod_less() && inputs.kata && inputs.kata->state == "running";
  history.container_started = history.container_started || !inputs.containers.empty() || runs;
  return history;
}

SizingRequest vm_request(const Observed& observed) {
  SizingRequest request;
  request.unified = observed.host.unified();
  request.page_size = observed.host.page_size;
  for (const auto& process : observed.processes)
    for (const auto& thread : process.threads)
      request.vcpus += thread.cls == ThreadClass::vcpu ? 1U : 0U;
  const auto& kata = observed.inputs.kata;
  request.local_vmm = !kata || kata->hypervisor != "remote";
  // A limit by guess would stay, for it only grows; until the VMM there is nothing to hold.
  request.vmm_started = vmm_started(observed) || observed.fixed.has_value();
  const auto* vmm = observed.first(ProcessRole::vmm);
  const bool qemu = vmm != nullptr && vmm->hypervisor == Hypervisor::qemu;
  if (qemu) request.vmm_memory = qemu_memory(vmm->facts.args);
  if (kata && !kata->hypervisor.empty())
    request.hypervisor = kata->hypervisor;
  else if (qemu)
    request.hypervisor = "qemu";
  request.history = current_history(observed);
  return request;
}

SizingRequest sizing_request(const Observed& observed, Layout layout, const CgroupPath& sandbox) {
  auto request = vm_request(observed);
  request.layout = layout;
  request.parent = parent_of(observed, sandbox);
  return request;
}

}  // namespace kcg
