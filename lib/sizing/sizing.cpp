// SPDX-License-Identifier: Apache-2.0
#include "sizing/sizing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/limit_text.hpp"
#include "sizing/parts.hpp"

namespace kcg {

using sizing::Bound;

namespace {

constexpr std::uint64_t kMaxWeight = 10'000;

const char* policy_name(MemorySizing policy) {
  switch (policy) {
    case MemorySizing::never:
      return "never";
    case MemorySizing::annotated:
      return "annotated";
    case MemorySizing::always:
      return "always";
  }
  return "";
}

/// Resource-free helper: one call of size().
class Sizer final {
 public:
  Sizer(const Config& config, const SandboxInputs& inputs, const SizingRequest& request)
      : config_(config),
        inputs_(inputs),
        request_(request),
        overhead_(sizing::choose_overhead(config, inputs, request.local_vmm)),
        sums_(sizing::sum_up(inputs, request.history)) {}

  Sizing run() {
    out_.overhead = overhead_.value;
    out_.conditions = overhead_.conditions;
    append_conditions(sums_.conditions);
    out_.memory_sum = sums_.memory_now.value;
    out_.cpus = sums_.cpus;
    out_.mems = sums_.mems;
    if (request_.layout == Layout::legacy)
      legacy();
    else
      sandbox_only();
    explain_hugepages();
    return std::move(out_);
  }

 private:
  void append_conditions(const std::vector<Condition>& more) {
    out_.conditions.insert(out_.conditions.end(), more.begin(), more.end());
  }

  // --- memory -------------------------------------------------------------------------------

  [[nodiscard]] std::string memory_key() const {
    return request_.unified ? "memory.max" : "memory.limit_in_bytes";
  }

  /// Why policy wants no memory limit on the sandbox group; "" if it does.
  [[nodiscard]] std::string memory_policy() const {
    const auto source = overhead_.value.source;
    switch (config_.sizing.memory) {
      case MemorySizing::always:
        return "";
      case MemorySizing::never:
        return "sizing.memory is \"never\"";
      case MemorySizing::annotated:
        break;
    }
    if (source == OverheadSource::annotation || source == OverheadSource::pod) return "";
    if (!inputs_.pod_less())
      return "sizing.memory is \"annotated\", and neither annotation nor pod tells the overhead";
    if (source == OverheadSource::handler) return "";
    return "the overhead is only the default, which sets no limit unless sizing.memory is "
           "\"always\"";
  }

  void sandbox_memory() {
    const auto boot = sizing::boot_memory(inputs_, request_);
    append_conditions(boot.conditions);
    const auto budget =
        sizing::memory_budget(inputs_, boot, sums_.memory, overhead_, out_.conditions);
    sizing::check_parent(request_, overhead_, sums_.memory.value, out_.conditions);
    auto wanted = sizing::memory_limit(inputs_, budget, request_);
    const auto policy = memory_policy();
    if (!policy.empty())
      wanted = {std::nullopt, "unlimited: " + policy};
    else if (wanted.value && !request_.vmm_started)
      wanted = {std::nullopt, "unlimited until the VMM has started and tells what it boots with"};
    out_.memory_max = wanted.value;
    if (wanted.value) out_.sandbox.push_back({memory_key(), fmt::format("{}", *wanted.value)});
    auto& e = explain(
        memory_key(), GroupRole::sandbox,
        request_.unified ? memory_max_text(wanted.value) : memory_limit_v1_text(wanted.value),
        wanted.formula);
    add_inputs(e, budget.inputs);
    e.inputs.push_back(
        {"sizing.memory", policy_name(config_.sizing.memory), config_.where("sizing.memory")});
    if (const auto& parent = request_.parent; parent.smallest_memory_max)
      e.inputs.push_back({"smallest memory limit above",
                          fmt::format("{}", *parent.smallest_memory_max),
                          parent.smallest_memory_group});
    e.change =
        "the containers' memory limits, the annotations memory_overhead and default_memory of "
        "io.katacontainers.config.hypervisor, Kata's default_memory, the configuration's "
        "[overhead] and sizing.memory, the limits above; it only grows while the VM lives";
    sizing::check_vm(inputs_, request_, overhead_, out_.memory_max, out_.conditions);
  }

  // --- CPU quota ----------------------------------------------------------------------------

  [[nodiscard]] Bound bounded(std::uint64_t microseconds, std::string formula, GroupRole role) {
    return sizing::quota_bound(microseconds, std::move(formula), request_, role, out_.conditions);
  }

  void add_quota(std::vector<WantedFile>& to, GroupRole role, const Bound& wanted,
                 bool with_overhead, const std::string& change) {
    const std::string key = request_.unified ? "cpu.max" : "cpu.cfs_quota_us";
    const auto text =
        request_.unified ? cpu_max_text({wanted.value, kPeriodUs}) : cfs_quota_text(wanted.value);
    if (wanted.value && !request_.unified)
      to.push_back({"cpu.cfs_period_us", fmt::format("{}", kPeriodUs)});
    if (wanted.value) to.push_back({key, text});
    auto& e = explain(key, role, text, wanted.formula);
    add_inputs(e, sums_.quota.inputs);
    if (with_overhead) e.inputs.push_back(overhead_.cpu);
    if (role == GroupRole::vcpu && request_.layout == Layout::sandbox_only)
      e.inputs.push_back({"sizing.vcpu_quota", config_.sizing.vcpu_quota ? "true" : "false",
                          config_.where("sizing.vcpu_quota")});
    if (const auto& parent = request_.parent; parent.smallest_quota_us && !request_.unified)
      e.inputs.push_back({"smallest CPU quota above, us per 100 ms",
                          fmt::format("{}", *parent.smallest_quota_us),
                          parent.smallest_quota_group});
    e.change = change;
  }

  void vcpu_quota() {
    Bound wanted;
    if (!config_.sizing.vcpu_quota)
      wanted.formula = "unlimited: sizing.vcpu_quota is false";
    else if (!sums_.quota.value)
      wanted.formula = sums_.quota.formula;
    else if (!request_.history.container_started)
      wanted.formula = "unlimited until a container has started: the guest boots at full speed";
    else
      wanted = bounded(*sums_.quota.value, "Q = " + sums_.quota.formula, GroupRole::vcpu);
    add_quota(out_.vcpu, GroupRole::vcpu, wanted, false,
              "the containers' CPU limits, and sizing.vcpu_quota");
  }

  /// Q + O_cpu of a pod-less sandbox.
  void sandbox_quota() {
    const std::string change = "the container's CPU limit, and the configuration's [overhead]";
    if (!sums_.quota.value)
      return add_quota(out_.sandbox, GroupRole::sandbox, {std::nullopt, sums_.quota.formula}, true,
                       change);
    const auto extra = sizing::multiply(overhead_.value.cpu_milli, kPeriodUs / 1000);
    const auto total = extra ? sizing::add(*sums_.quota.value, *extra) : std::nullopt;
    if (!total) {
      out_.conditions.push_back(
          {ConditionName::arithmetic_overflow,
           fmt::format(
               "{} us of CPU and an overhead of {} millicores exceed 64 bits; the sandbox's "
               "CPU counts as unlimited",
               *sums_.quota.value, overhead_.value.cpu_milli)});
      return add_quota(out_.sandbox, GroupRole::sandbox,
                       {std::nullopt, "unlimited: Q + O exceeds 64 bits"}, true, change);
    }
    const auto formula = fmt::format("Q + O = ({}) + {}", sums_.quota.formula, *extra);
    add_quota(out_.sandbox, GroupRole::sandbox, bounded(*total, formula, GroupRole::sandbox), true,
              change);
  }

  // --- CPU weight ---------------------------------------------------------------------------

  [[nodiscard]] std::string weight_key() const {
    return request_.unified ? "cpu.weight" : "cpu.shares";
  }

  void weight_from_shares(std::vector<WantedFile>& to, GroupRole role) {
    if (!sums_.shares.value) return;
    const auto shares = std::clamp(*sums_.shares.value, sizing::kMinShares, sizing::kMaxShares);
    auto value = shares;
    auto formula = fmt::format("shares {} = {}", sums_.shares.formula, shares);
    if (request_.unified) {
      value = sizing::weight_like_parent(shares, request_.parent, overhead_.value.cpu_milli);
      formula += fmt::format(", as a weight {}", value);
    }
    to.push_back({weight_key(), fmt::format("{}", value)});
    auto& e = explain(weight_key(), role, fmt::format("{}", value), formula);
    add_inputs(e, sums_.shares.inputs);
    if (request_.unified && request_.parent.pod_weight)
      e.inputs.push_back({"cpu.weight above, by which the curve is chosen",
                          fmt::format("{}", *request_.parent.pod_weight),
                          request_.parent.pod_group});
    e.change = "the containers' CPU shares (Kubernetes: their CPU requests)";
  }

  /// As many times the default as there are vCPUs: one busy I/O thread must not equal them all.
  void vcpu_weight() {
    if (request_.vcpus == 0) return;
    const std::uint64_t each = request_.unified ? 100 : 1024;
    const auto most = request_.unified ? kMaxWeight : sizing::kMaxShares;
    const auto value = std::min(each * request_.vcpus, most);
    out_.vcpu.push_back({weight_key(), fmt::format("{}", value)});
    auto& e = explain(weight_key(), GroupRole::vcpu, fmt::format("{}", value),
                      fmt::format("{} x {} vCPUs, at most {}", each, request_.vcpus, most));
    e.inputs.push_back({"vCPUs", fmt::format("{}", request_.vcpus), "threads of the VMM"});
    e.change = "the number of vCPUs";
  }

  // --- layouts ------------------------------------------------------------------------------

  void sandbox_only() {
    sandbox_memory();
    if (inputs_.pod_less()) {
      sandbox_quota();
      weight_from_shares(out_.sandbox, GroupRole::sandbox);
    }
    vcpu_quota();
    vcpu_weight();
  }

  void legacy() {
    const auto role = request_.unified ? GroupRole::vcpu : GroupRole::constrained;
    auto& to = request_.unified ? out_.vcpu : out_.constrained;
    Bound quota{std::nullopt, sums_.quota.formula};
    if (sums_.quota.value) quota = bounded(*sums_.quota.value, "Q = " + sums_.quota.formula, role);
    add_quota(to, role, quota, false, "the containers' CPU limits");
    weight_from_shares(to, role);
    if (request_.unified) return;
    Bound memory{std::nullopt, sums_.memory.formula};
    if (sums_.memory.value)
      memory = sizing::memory_bound(*sums_.memory.value, "S = " + sums_.memory.formula,
                                    request_.page_size);
    if (memory.value) to.push_back({memory_key(), fmt::format("{}", *memory.value)});
    auto& e = explain(memory_key(), role, memory_limit_v1_text(memory.value),
                      memory.formula + "; for the record: nothing is charged here");
    add_inputs(e, sums_.memory.inputs);
    e.change = "the containers' memory limits";
  }

  // --- derivations --------------------------------------------------------------------------

  Explanation& explain(const std::string& key, GroupRole role, std::string value,
                       std::string formula) {
    auto& e = out_.explanations.emplace_back();
    e.subject = fmt::format("{} of {}", key, name(role));
    e.key = key;
    e.role = role;
    e.value = std::move(value);
    e.formula = std::move(formula);
    return e;
  }

  static void add_inputs(Explanation& e, const std::vector<Explanation::Input>& inputs) {
    e.inputs.insert(e.inputs.end(), inputs.begin(), inputs.end());
  }

  void explain_hugepages() {
    for (const auto& [page, bytes] : sums_.hugepages) {
      auto& e = out_.explanations.emplace_back();
      e.subject = fmt::format("hugepages of {}", page);
      e.value = fmt::format("{}", bytes);
      e.formula = "sum over the containers; shown, never written";
      add_inputs(e, sums_.hugepage_inputs[page]);
      e.change = "the containers' hugepage limits";
    }
  }

  const Config& config_;
  const SandboxInputs& inputs_;
  const SizingRequest& request_;
  sizing::OverheadChoice overhead_;
  sizing::Sums sums_;
  Sizing out_;
};

}  // namespace

Sizing size(const Config& config, const SandboxInputs& inputs, const SizingRequest& request) {
  return Sizer(config, inputs, request).run();
}

}  // namespace kcg
