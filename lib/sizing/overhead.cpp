// SPDX-License-Identifier: Apache-2.0
//
// The overhead of a sandbox: annotation, the pod's own, the handler's, the default.
#include <algorithm>
#include <limits>

#include "base/amounts.hpp"
#include "base/text.hpp"
#include "sizing/overhead.hpp"
#include "sizing/parts.hpp"

namespace kcg {

namespace {

constexpr std::string_view kAnnotation = "io.katacontainers.config.hypervisor.memory_overhead";

/// Value: the annotation as it was found.
struct Annotation {
  std::string text;
  std::string source;
};

std::optional<Annotation> find_annotation(const SandboxInputs& inputs) {
  if (inputs.registration) {
    const auto it = inputs.registration->annotations.find(std::string(kAnnotation));
    if (it != inputs.registration->annotations.end())
      return Annotation{it->second, "D-Bus registration"};
  }
  if (inputs.bundle && inputs.bundle->overhead_annotation)
    return Annotation{*inputs.bundle->overhead_annotation,
                      inputs.bundle->directory + "/config.json"};
  if (inputs.node && inputs.node->overhead_annotation)
    return Annotation{*inputs.node->overhead_annotation, "the pod (NRI)"};
  return std::nullopt;
}

std::string handler_of(const SandboxInputs& inputs) {
  if (inputs.registration && !inputs.registration->handler.empty())
    return inputs.registration->handler;
  if (inputs.bundle && !inputs.bundle->handler.empty()) return inputs.bundle->handler;
  return inputs.node ? inputs.node->handler : "";
}

std::uint64_t mib_to_bytes(std::uint64_t mib) {
  return sizing::multiply(mib, kMib).value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

Result<std::uint64_t> parse_overhead_annotation(std::string_view text, std::uint64_t max_mib) {
  if (text.empty()) return fail(0, "it is empty; write a whole number of MiB");
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return fail(0,
                "only decimal digits are allowed: a whole number of MiB without sign, unit, "
                "fraction or space");
  const auto value = parse_u64(text);
  if (!value || *value > max_mib)
    return fail(0, "it is larger than overhead.max_mib, which is {}", max_mib);
  if (*value == 0) return fail(0, "it is 0; the smallest overhead is 1 MiB");
  return *value;
}

std::vector<GrantedOverhead> granted_overheads(const SandboxInputs& inputs) {
  std::vector<GrantedOverhead> found;
  if (const auto& said = inputs.registration)
    found.push_back({{said->memory_overhead, said->cpu_overhead_milli}, "registration"});
  if (const auto& bundle = inputs.bundle)
    found.push_back({{bundle->pod_overhead_memory, bundle->pod_overhead_cpu_milli}, "bundle"});
  if (const auto& node = inputs.node) found.push_back({node->overhead, "nri"});
  return found;
}

namespace sizing {

namespace {

/// Lower ranks: what the operator configured.
void apply_config(const Config& config, const SandboxInputs& inputs, OverheadChoice& out) {
  const auto handler = handler_of(inputs);
  const auto it = config.overhead.handlers.find(handler);
  const bool known = it != config.overhead.handlers.end();
  const auto mib = known ? it->second.mib : config.overhead.default_mib;
  out.value.source = known ? OverheadSource::handler : OverheadSource::default_value;
  out.value.memory_bytes = mib_to_bytes(mib);
  out.value.cpu_milli = known ? it->second.millicpu : config.overhead.default_millicpu;
  const bool dotted = handler.find('.') != std::string::npos;
  const auto name = dotted ? "\"" + handler + "\"" : handler;
  const auto table = known ? "overhead.handlers." + name + "." : std::string("overhead.default_");
  const auto source = [&](const char* key) {
    return fmt::format("{}{}, {}", escaped(table), key, config.where(table + key));
  };
  out.memory = {"memory overhead", fmt::format("{} ({} MiB)", out.value.memory_bytes, mib),
                source("mib")};
  out.cpu = {"CPU overhead", fmt::format("{} millicores", out.value.cpu_milli), source("millicpu")};
}

/// Where an overhead that the pod was granted stands, for people.
std::string granted_text(const SandboxInputs& inputs, std::string_view source) {
  if (source == "registration") return "the pod's own overhead (D-Bus registration)";
  if (source == "nri") return "the pod's own overhead (NRI)";
  return "the pod's own overhead, annotation io.kubernetes.cri-o.PodLinuxOverhead in " +
         inputs.bundle->directory + "/config.json";
}

/// Rank 2. A pod without overhead has none to tell: 0 bytes are not an answer.
bool apply_pod(const SandboxInputs& inputs, OverheadChoice& out) {
  bool cpu = false, memory = false;
  for (const auto& [amounts, source] : granted_overheads(inputs)) {
    if (amounts.cpu_milli && !cpu) {
      cpu = true;
      out.value.cpu_milli = *amounts.cpu_milli;
      out.cpu = {"CPU overhead", fmt::format("{} millicores", *amounts.cpu_milli),
                 granted_text(inputs, source)};
    }
    if (amounts.memory.value_or(0) == 0 || memory) continue;
    memory = true;
    out.value.memory_bytes = *amounts.memory;
    out.value.source = OverheadSource::pod;
    out.memory = {"memory overhead", fmt::format("{}", *amounts.memory),
                  granted_text(inputs, source)};
  }
  return memory;
}

/// Rank 1; a larger overhead that the pod was granted stays in force.
void apply_annotation(const Config& config, const SandboxInputs& inputs, bool pod_knows,
                      OverheadChoice& out) {
  const auto annotation = find_annotation(inputs);
  if (!annotation) return;
  const auto mib = parse_overhead_annotation(annotation->text, config.overhead.max_mib);
  if (!mib) {
    out.conditions.push_back(
        {ConditionName::invalid_annotation,
         fmt::format("annotation {}=\"{}\" in {} is ignored: {}", kAnnotation,
                     escaped(annotation->text, 64), annotation->source, mib.error().text)});
    return;
  }
  const auto bytes = mib_to_bytes(*mib);
  if (pod_knows && out.value.memory_bytes > bytes) return;
  out.value.memory_bytes = bytes;
  out.value.source = OverheadSource::annotation;
  out.memory = {"memory overhead", fmt::format("{} ({} MiB)", bytes, *mib),
                fmt::format("annotation {}=\"{}\" in {}", kAnnotation,
                            escaped(annotation->text, 64), annotation->source)};
}

/// "pod none, handler \"kata\" 350 MiB, default 350 MiB": who reads why the winner won wants to
/// know what the others say.
Explanation::Input other_sources(const Config& config, const SandboxInputs& inputs,
                                 OverheadSource chosen) {
  std::string said;
  const auto add = [&](OverheadSource source, const std::string& who, const std::string& what) {
    if (source != chosen) said += fmt::format("{}{} {}", said.empty() ? "" : ", ", who, what);
  };
  const auto annotation = find_annotation(inputs);
  const auto mib = annotation ? parse_overhead_annotation(annotation->text, config.overhead.max_mib)
                              : fail(0, "");
  add(OverheadSource::annotation, "annotation",
      !annotation ? "none"
      : mib       ? fmt::format("{} MiB", *mib)
                  : "not valid");
  std::uint64_t pod = 0;
  for (const auto& [amounts, source] : granted_overheads(inputs))
    pod = pod > 0 ? pod : amounts.memory.value_or(0);
  add(OverheadSource::pod, "pod", pod == 0 ? "none" : fmt::format("{} MiB", pod / kMib));
  const auto handler = handler_of(inputs);
  const auto known = config.overhead.handlers.find(handler);
  add(OverheadSource::handler,
      handler.empty() ? "handler" : fmt::format("handler \"{}\"", escaped(handler, 64)),
      known == config.overhead.handlers.end() ? "none" : fmt::format("{} MiB", known->second.mib));
  add(OverheadSource::default_value, "default", fmt::format("{} MiB", config.overhead.default_mib));
  return {"other sources",
          said + "; the larger of annotation and pod counts, then handler, default",
          config.where("overhead.default_mib")};
}

}  // namespace

OverheadChoice choose_overhead(const Config& config, const SandboxInputs& inputs, bool local_vmm) {
  OverheadChoice out;
  apply_config(config, inputs, out);
  const bool pod_knows = apply_pod(inputs, out);
  apply_annotation(config, inputs, pod_knows, out);
  out.others = other_sources(config, inputs, out.value.source);
  if (local_vmm && out.value.memory_bytes < kPlausibleOverheadMib * kMib)
    out.conditions.push_back(
        {ConditionName::overhead_implausible,
         fmt::format("a memory overhead of {} is less than {} MiB, which no local VMM gets "
                     "along with; it comes from: {}",
                     bytes_text(out.value.memory_bytes), kPlausibleOverheadMib,
                     out.memory.source)});
  return out;
}

}  // namespace sizing

}  // namespace kcg
