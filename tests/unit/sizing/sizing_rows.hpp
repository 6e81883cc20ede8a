// SPDX-License-Identifier: Apache-2.0
//
// Rows of tests/data/sizing/golden.json as values.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sizing/containers.hpp"
#include "sizing/numbers.hpp"
#include "sizing/overhead.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

using nlohmann::json;

inline constexpr std::uint64_t kMib = 1024 * 1024;

template <class T>
std::optional<T> maybe(const json& row, const char* key) {
  if (!row.contains(key)) return std::nullopt;
  return row.at(key).get<T>();
}

inline std::optional<std::uint64_t> maybe_mib(const json& row, const char* key) {
  const auto mib = maybe<std::uint64_t>(row, key);
  return mib ? std::optional(*mib * kMib) : std::nullopt;
}

inline Resources resources_of(const json& container) {
  Resources out;
  if (container.contains("mib"))
    out.memory_limit = container.at("mib").get<std::int64_t>() * static_cast<std::int64_t>(kMib);
  if (container.contains("bytes")) out.memory_limit = container.at("bytes").get<std::int64_t>();
  out.cpu_quota = maybe<std::int64_t>(container, "quota");
  out.cpu_period = maybe<std::uint64_t>(container, "period");
  out.cpu_shares = maybe<std::uint64_t>(container, "shares");
  return out;
}

inline SandboxId id_of(const char* text) { return SandboxId::parse(text).value(); }

/// A pod (or a pod-less container) with the given containers, as bundles tell it.
inline SandboxInputs inputs_of(const json& row) {
  SandboxInputs inputs;
  inputs.id = id_of("s1");
  Bundle sandbox;
  sandbox.id = sandbox.sandbox_id = "s1";
  sandbox.directory = "/run/bundles/s1";
  sandbox.handler = row.value("handler", "");
  sandbox.overhead_annotation = maybe<std::string>(row, "annotation");
  sandbox.boot_annotation = maybe<std::string>(row, "boot_annotation");
  sandbox.total_memory = maybe_mib(row, "total_mib");
  sandbox.total_cpu_quota = maybe<std::int64_t>(row, "total_quota");
  sandbox.total_cpu_period = maybe<std::uint64_t>(row, "total_period");
  const bool single = row.value("pod_less", false);
  sandbox.type = single ? BundleType::single : BundleType::sandbox;
  int number = 0;
  for (const auto& container : row.value("containers", json::array())) {
    if (single) {
      sandbox.resources = resources_of(container);
      break;
    }
    Bundle bundle;
    bundle.id = "c" + std::to_string(++number);
    bundle.type = BundleType::container;
    bundle.sandbox_id = "s1";
    bundle.directory = "/run/bundles/" + bundle.id;
    bundle.resources = resources_of(container);
    inputs.containers.push_back(bundle);
  }
  inputs.bundle = sandbox;
  if (row.contains("pod_mib")) {
    inputs.registration = Registration();
    inputs.registration->memory_overhead = maybe_mib(row, "pod_mib");
  }
  if (row.contains("kata_boot_mib")) {
    inputs.kata = KataState();
    inputs.kata->boot_memory_mib = row.at("kata_boot_mib");
    inputs.kata->hotplugged_memory_mib = row.at("kata_hotplug_mib");
  }
  return inputs;
}

inline SizingRequest request_of(const json& row) {
  SizingRequest request;
  request.layout =
      row.value("layout", "sandbox-only") == "legacy" ? Layout::legacy : Layout::sandbox_only;
  request.unified = !row.value("v1", false);
  request.page_size = row.value("page", std::uint64_t{4096});
  request.vcpus = row.value("vcpus", 0U);
  request.local_vmm = row.value("local_vmm", true);
  request.vmm_memory = maybe_mib(row, "vm_mib");
  request.parent.smallest_memory_max = maybe_mib(row, "parent_memory_mib");
  request.parent.smallest_memory_group = "/kubepods/podU";
  request.parent.smallest_quota_us = maybe<std::uint64_t>(row, "parent_quota");
  request.parent.pod_shares = maybe<std::uint64_t>(row, "pod_shares");
  request.parent.pod_weight = maybe<std::uint64_t>(row, "pod_weight");
  request.history.largest_memory_sum = maybe_mib(row, "history_mib");
  request.history.container_started = row.value("started", false);
  return request;
}

inline Config config_of(const json& row) {
  Config config;
  const auto policy = row.value("policy", "annotated");
  if (policy == "always") config.sizing.memory = MemorySizing::always;
  if (policy == "never") config.sizing.memory = MemorySizing::never;
  config.sizing.vcpu_quota = row.value("vcpu_quota", true);
  return config;
}

inline std::vector<std::string> text_of(const std::vector<WantedFile>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) out.push_back(file.key + "=" + file.value);
  return out;
}

inline std::vector<std::string> names_of(const std::vector<Condition>& conditions) {
  std::vector<std::string> out;
  for (const auto& one : conditions) out.emplace_back(info(one.condition).name);
  return out;
}

inline std::vector<std::string> expected(const json& row, const char* key) {
  return row.value(key, std::vector<std::string>{});
}

inline const Explanation* find(const Sizing& sizing, const std::string& subject) {
  for (const auto& e : sizing.explanations)
    if (e.subject == subject) return &e;
  return nullptr;
}

}  // namespace kcg
