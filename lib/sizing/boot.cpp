// SPDX-License-Identifier: Apache-2.0
//
// B: the memory that a VM boots with. Kata plugs the containers' limits in on top of it, and a
// guest may touch all of it: a limit without it kills VMs that fit their pod.
#include <limits>

#include "base/text.hpp"
#include "sizing/parts.hpp"

namespace kcg::sizing {

namespace {

constexpr std::string_view kAnnotation = "io.katacontainers.config.hypervisor.default_memory";
constexpr std::uint64_t kKatasDefaultMib = 2048;

/// Value: the annotation as it was found.
struct Annotation {
  std::string text, source;
};

std::optional<Annotation> find_annotation(const SandboxInputs& inputs) {
  if (inputs.registration) {
    const auto& all = inputs.registration->annotations;
    const auto it = all.find(std::string(kAnnotation));
    if (it != all.end()) return Annotation{it->second, "D-Bus registration"};
  }
  if (inputs.bundle && inputs.bundle->boot_annotation)
    return Annotation{*inputs.bundle->boot_annotation, inputs.bundle->directory + "/config.json"};
  return std::nullopt;
}

void set(BootMemory& boot, std::uint64_t bytes, std::string source) {
  boot.bytes = bytes;
  boot.input = {"the VM's boot memory",
                bytes % kMib == 0 ? fmt::format("{} ({} MiB)", bytes, bytes / kMib)
                                  : fmt::format("{}", bytes),
                std::move(source)};
}

std::uint64_t mebibytes(std::uint64_t mib) {
  return multiply(mib, kMib).value_or(kUnlimitedMemory);
}

/// Kata holds MiB in 32 bits.
bool by_annotation(const SandboxInputs& inputs, BootMemory& boot) {
  const auto annotation = find_annotation(inputs);
  if (!annotation) return false;
  const auto where = fmt::format("annotation {}=\"{}\" in {}", kAnnotation,
                                 escaped(annotation->text, 64), annotation->source);
  const auto mib = parse_u64(annotation->text);
  if (mib && *mib > 0 && *mib <= std::numeric_limits<std::uint32_t>::max()) {
    set(boot, *mib * kMib, where);
    return true;
  }
  boot.conditions.push_back(
      {ConditionName::invalid_annotation,
       where + " is ignored: write a whole number of MiB, in digits, from 1 to 4294967295"});
  return false;
}

/// The configuration has a table for each hypervisor; mostly it has one.
const KataDefaultMemory* configured(const SandboxInputs& inputs, const std::string& hypervisor) {
  const auto& all = inputs.kata_default_memory;
  const auto it = all.find(hypervisor);
  if (it != all.end()) return &it->second;
  return hypervisor.empty() && all.size() == 1 ? &all.begin()->second : nullptr;
}

}  // namespace

BootMemory boot_memory(const SandboxInputs& inputs, const SizingRequest& request) {
  BootMemory boot;
  if (!request.local_vmm) {
    set(boot, 0, "its hypervisor is remote: no VM runs on this node");
  } else if (request.vmm_memory) {
    set(boot, *request.vmm_memory, "-m on the VMM's command line");
  } else if (inputs.kata && inputs.kata->boot_memory_mib > 0) {
    set(boot, mebibytes(inputs.kata->boot_memory_mib), inputs.kata->place());
  } else if (by_annotation(inputs, boot)) {
    return boot;
  } else if (const auto* said = configured(inputs, request.hypervisor)) {
    set(boot, mebibytes(said->mib), "Kata's configuration, default_memory in " + said->where);
  } else {
    set(boot, kKatasDefaultMib * kMib, "Kata's own default: nothing else is known");
  }
  return boot;
}

}  // namespace kcg::sizing
