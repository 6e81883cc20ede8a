// SPDX-License-Identifier: Apache-2.0
//
// The sums of what the containers that count were promised.
#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"
#include "sizing/containers.hpp"
#include "sizing/parts.hpp"

namespace kcg {

namespace sizing {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Value: what one container contributes to one sum.
struct Part {
  enum class Kind : std::uint8_t { limited, unlimited, overflow } kind = Kind::unlimited;
  std::uint64_t value = 0;
};

Part memory_part(const Resources& resources) {
  const auto limit = resources.memory_limit.value_or(0);
  if (limit <= 0 || static_cast<std::uint64_t>(limit) >= kUnlimitedMemory) return {};
  return {Part::Kind::limited, static_cast<std::uint64_t>(limit)};
}

Part quota_part(std::optional<std::int64_t> quota, std::optional<std::uint64_t> period) {
  if (quota.value_or(0) <= 0) return {};
  const auto value = per_100ms(static_cast<std::uint64_t>(*quota), period.value_or(kPeriodUs));
  if (!value) return {Part::Kind::overflow, 0};
  return {Part::Kind::limited, *value};
}

/// `key`: of the OCI bundle's linux.resources.
std::string source_text(const SandboxInputs& inputs, const Container& container,
                        std::string_view key) {
  switch (container.source) {
    case ResourceSource::registration:
      return "D-Bus registration";
    case ResourceSource::nri:
      return "the engine (NRI)";
    case ResourceSource::kata_state:
      return inputs.kata ? inputs.kata->place() : "";
    case ResourceSource::bundle:
      break;
  }
  const auto* bundle = bundle_of(inputs, container.id);
  return bundle == nullptr
             ? ""
             : fmt::format("{}/config.json, linux.resources.{}", bundle->directory, key);
}

/// What an engine tells of the pod as a whole stands in the annotations of its sandbox's bundle.
std::string total_source(const Bundle& bundle, std::string_view key) {
  const bool crio = bundle.engine == Engine::crio;
  return fmt::format("{}/config.json, annotation {}", bundle.directory,
                     crio ? "io.kubernetes.cri-o.PodLinuxResources"
                          : fmt::format("io.kubernetes.cri.sandbox-{}", key));
}

std::string title(const Container& container) {
  return escaped(container.name.empty() ? container.id : container.name);
}

/// Nothing tells its limits: it may have none.
bool unknown_limits(const SandboxInputs& inputs, const Container& container) {
  const auto* bundle = bundle_of(inputs, container.id);
  return container.source == ResourceSource::bundle && bundle != nullptr &&
         !bundle->unreadable.empty();
}

Condition overflow(std::string_view what) {
  return {
      ConditionName::arithmetic_overflow,
      fmt::format("the sum of the containers' {} exceeds 64 bits; it counts as unlimited", what)};
}

/// Adds up what all containers have; the first one without a limit makes the sum unlimited.
Sum add_up(const SandboxInputs& inputs, const std::vector<Container>& containers,
           std::string_view what, std::string_view key,
           const std::function<Part(const Resources&)>& part_of,
           std::vector<Condition>& conditions) {
  Sum sum;
  sum.value = 0;
  std::string unlimited;
  for (const auto& container : containers) {
    const auto part = part_of(container.resources);
    const bool limited = part.kind == Part::Kind::limited;
    sum.inputs.push_back({fmt::format("{} of container {}", what, title(container)),
                          limited ? fmt::format("{}", part.value) : "unlimited",
                          source_text(inputs, container, key)});
    if (part.kind == Part::Kind::unlimited && unlimited.empty())
      unlimited =
          unknown_limits(inputs, container)
              ? fmt::format("unlimited: the bundle of container {} cannot be read",
                            title(container))
              : fmt::format("unlimited: container {} has no {} limit", title(container), what);
    if (sum.value && limited) {
      sum.formula += fmt::format("{}{}", sum.formula.empty() ? "" : " + ", part.value);
      sum.value = add(*sum.value, part.value);
    } else {
      sum.value = std::nullopt;
    }
  }
  if (!unlimited.empty()) {
    sum.value = std::nullopt;
    sum.formula = unlimited;
  } else if (!sum.value) {
    conditions.push_back(overflow(what));
    sum.formula = "unlimited: the sum exceeds 64 bits";
  }
  return sum;
}

/// The engine's own total and what the VM has needed before raise a sum, they never lower it.
void raise(Sum& sum, Amount at_least, const Explanation::Input& input) {
  if (!at_least) return;
  sum.inputs.push_back(input);
  if (!sum.value || *sum.value >= *at_least) return;
  sum.value = at_least;
  sum.formula = fmt::format("{} ({})", *at_least, input.name);
}

Sum unknown(std::string_view what) {
  Sum sum;
  sum.formula = fmt::format("unlimited: no container and no {} total is known", what);
  return sum;
}

void sum_memory(const SandboxInputs& inputs, const std::vector<Container>& containers,
                const History& history, Sums& out) {
  Amount total;
  Explanation::Input total_input;
  if (inputs.bundle && inputs.bundle->total_memory.value_or(0) > 0) {
    total = inputs.bundle->total_memory;
    total_input = {"the engine's memory total for the pod", fmt::format("{}", *total),
                   total_source(*inputs.bundle, "memory")};
  } else if (inputs.node && inputs.node->limits.memory) {
    total = inputs.node->limits.memory;
    total_input = {"the engine's memory total for the pod", fmt::format("{}", *total),
                   "the engine (NRI)"};
  }
  out.memory_now =
      add_up(inputs, containers, "memory", "memory.limit", memory_part, out.conditions);
  raise(out.memory_now, total, total_input);
  out.memory = out.memory_now;
  const auto seen =
      history.largest_memory_sum.value_or(0) > 0 ? history.largest_memory_sum : std::nullopt;
  raise(out.memory, seen,
        {"largest sum during this VM's life", fmt::format("{}", seen.value_or(0)),
         "earlier containers: guest memory does not come back"});
  if (!containers.empty()) return;
  if (!total) out.memory_now = unknown("memory");
  if (!total && !seen) out.memory = unknown("memory");
}

void sum_quota(const SandboxInputs& inputs, const std::vector<Container>& containers, Sums& out) {
  const auto of_container = [](const Resources& resources) {
    return quota_part(resources.cpu_quota, resources.cpu_period);
  };
  if (!containers.empty()) {
    out.quota = add_up(inputs, containers, "CPU", "cpu.quota", of_container, out.conditions);
    return;
  }
  out.quota = unknown("CPU");
  if (!inputs.bundle) return;
  const auto& bundle = *inputs.bundle;
  const auto total = quota_part(bundle.total_cpu_quota, bundle.total_cpu_period);
  if (total.kind == Part::Kind::overflow) out.conditions.push_back(overflow("CPU"));
  if (total.kind != Part::Kind::limited) return;
  out.quota.value = total.value;
  out.quota.formula = fmt::format("{}", total.value);
  out.quota.inputs = {{"the engine's CPU total for the pod", fmt::format("{}", total.value),
                       total_source(bundle, "cpu-quota")}};
}

/// Nobody asking for shares leaves the kernel's default alone.
void sum_shares(const SandboxInputs& inputs, const std::vector<Container>& containers, Sums& out) {
  std::uint64_t sum = 0;
  bool any = false;
  for (const auto& container : containers) {
    const auto shares = container.resources.cpu_shares.value_or(0);
    if (shares == 0) continue;
    any = true;
    out.shares.formula += fmt::format("{}{}", out.shares.formula.empty() ? "" : " + ", shares);
    sum = add(sum, shares).value_or(kMost);
    out.shares.inputs.push_back({fmt::format("CPU shares of container {}", title(container)),
                                 fmt::format("{}", shares),
                                 source_text(inputs, container, "cpu.shares")});
  }
  const auto total = inputs.bundle ? inputs.bundle->total_cpu_shares.value_or(0) : 0;
  if (containers.empty() && total > 0) {
    any = true;
    sum = total;
    out.shares.formula = fmt::format("{}", total);
    out.shares.inputs = {{"the engine's CPU shares for the pod", fmt::format("{}", total),
                          total_source(*inputs.bundle, "cpu-shares")}};
  }
  if (any) out.shares.value = std::max(sum, kMinShares);
}

/// The union; empty as soon as one container may run anywhere.
std::string unite(const std::vector<Container>& containers, std::string Resources::* list) {
  CpuSet all;
  for (const auto& container : containers) {
    const auto set = CpuSet::parse(container.resources.*list);
    if (!set || set->empty()) return "";
    all = all.united(*set);
  }
  return all.str();
}

}  // namespace

Sums sum_up(const SandboxInputs& inputs, const History& history) {
  Sums out;
  const auto containers = counted_containers(inputs);
  sum_memory(inputs, containers, history, out);
  sum_quota(inputs, containers, out);
  sum_shares(inputs, containers, out);
  out.cpus = unite(containers, &Resources::cpus);
  out.mems = unite(containers, &Resources::mems);
  for (const auto& container : containers)
    for (const auto& [size, bytes] : container.resources.hugepages) {
      out.hugepages[size] = add(out.hugepages[size], bytes).value_or(kMost);
      out.hugepage_inputs[size].push_back({"huge pages of container " + title(container),
                                           fmt::format("{}", bytes),
                                           source_text(inputs, container, "hugepageLimits")});
    }
  return out;
}

}  // namespace sizing

}  // namespace kcg
