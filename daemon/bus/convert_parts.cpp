// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/convert_parts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace kcg::bus {

namespace {

template <class Enum>
sdbus::Variant named(Enum value) {
  return text_variant(name(value));
}

/// OCI's "zero or less is unlimited" as our one unlimited number.
std::uint64_t amount(std::int64_t value) {
  return value > 0 ? static_cast<std::uint64_t>(value) : kUnlimited;
}

std::optional<std::int64_t> signed_amount(const Properties& properties, const char* key) {
  if (!properties.contains(key)) return std::nullopt;
  const auto value = properties.at(key).get<std::uint64_t>();
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value == kUnlimited ? -1 : static_cast<std::int64_t>(std::min(value, kMax));
}

std::optional<std::uint64_t> plain_amount(const Properties& properties, const char* key) {
  if (!properties.contains(key)) return std::nullopt;
  return properties.at(key).get<std::uint64_t>();
}

void put_known(Properties& out, const char* key, const std::optional<std::uint64_t>& value) {
  if (value) out[key] = sdbus::Variant(*value);
}

}  // namespace

TextMap clean(const TextMap& map) {
  TextMap out;
  for (const auto& [key, value] : map) out.emplace(valid_utf8(key), valid_utf8(value));
  return out;
}

Properties to_properties(const ThreadView& thread) {
  Properties out;
  out["Pid"] = sdbus::Variant(static_cast<std::uint32_t>(thread.pid));
  out["Tid"] = sdbus::Variant(static_cast<std::uint32_t>(thread.tid));
  out["Role"] = named(thread.role);
  out["Class"] = named(thread.cls);
  out["ClassifiedBy"] = named(thread.by);
  out["Name"] = text_variant(thread.comm);
  out["CpuUsec"] = sdbus::Variant(thread.cpu_usec);
  out["Group"] = text_variant(thread.group_now);
  out["WantedGroup"] = text_variant(thread.group_wanted);
  out["Placed"] = sdbus::Variant(thread.placed);
  return out;
}

ThreadView thread_from(const Properties& properties) {
  ThreadView out;
  out.pid = static_cast<Pid>(value_of<std::uint32_t>(properties, "Pid"));
  out.tid = static_cast<Pid>(value_of<std::uint32_t>(properties, "Tid"));
  out.role = enum_from(value_of<std::string>(properties, "Role"), ProcessRole::kernel_worker,
                       ProcessRole::descendant);
  out.cls =
      enum_from(value_of<std::string>(properties, "Class"), ThreadClass::shim, ThreadClass::vmm);
  out.by = enum_from(value_of<std::string>(properties, "ClassifiedBy"), ClassSource::fallback,
                     ClassSource::fallback);
  out.comm = value_of<std::string>(properties, "Name");
  out.cpu_usec = value_of<std::uint64_t>(properties, "CpuUsec");
  out.group_now = value_of<std::string>(properties, "Group");
  out.group_wanted = value_of<std::string>(properties, "WantedGroup");
  out.placed = value_of<bool>(properties, "Placed");
  return out;
}

Properties to_properties(const GroupView& group) {
  std::vector<std::string> hierarchies;
  for (const auto& one : group.hierarchies) hierarchies.push_back(valid_utf8(one));
  Properties out;
  out["Role"] = named(group.role);
  out["Path"] = text_variant(group.path);
  out["Hierarchies"] = sdbus::Variant(hierarchies);
  out["Type"] = named(group.type);
  out["Exists"] = sdbus::Variant(group.exists);
  out["Limits"] = sdbus::Variant(clean(group.limits));
  out["Wanted"] = sdbus::Variant(clean(group.wanted));
  if (group.memory_current) out["MemoryCurrent"] = sdbus::Variant(*group.memory_current);
  return out;
}

GroupView group_from(const Properties& properties) {
  GroupView out;
  out.role = enum_from(value_of<std::string>(properties, "Role"), GroupRole::unconstrained,
                       GroupRole::sandbox);
  out.path = value_of<std::string>(properties, "Path");
  out.hierarchies = value_of<std::vector<std::string>>(properties, "Hierarchies");
  out.type = enum_from(value_of<std::string>(properties, "Type"), GroupType::v1, GroupType::domain);
  out.exists = value_of<bool>(properties, "Exists");
  out.limits = value_of<TextMap>(properties, "Limits");
  out.wanted = value_of<TextMap>(properties, "Wanted");
  out.memory_current = plain_amount(properties, "MemoryCurrent");
  return out;
}

void add_resources(Properties& properties, const Resources& resources) {
  const auto put = [&](const char* key, std::uint64_t value) {
    properties[key] = sdbus::Variant(value);
  };
  if (resources.memory_limit) put("MemoryLimit", amount(*resources.memory_limit));
  if (resources.cpu_quota) put("CpuQuota", amount(*resources.cpu_quota));
  if (resources.cpu_period) put("CpuPeriod", *resources.cpu_period);
  if (resources.cpu_shares) put("CpuShares", *resources.cpu_shares);
  if (!resources.cpus.empty()) properties["Cpus"] = text_variant(resources.cpus);
  if (!resources.mems.empty()) properties["Mems"] = text_variant(resources.mems);
  if (!resources.hugepages.empty()) properties["Hugepages"] = sdbus::Variant(resources.hugepages);
}

Resources resources_from(const Properties& properties) {
  Resources out;
  out.memory_limit = signed_amount(properties, "MemoryLimit");
  out.cpu_quota = signed_amount(properties, "CpuQuota");
  out.cpu_period = plain_amount(properties, "CpuPeriod");
  out.cpu_shares = plain_amount(properties, "CpuShares");
  out.cpus = value_of<std::string>(properties, "Cpus");
  out.mems = value_of<std::string>(properties, "Mems");
  out.hugepages = value_of<std::map<std::string, std::uint64_t>>(properties, "Hugepages");
  return out;
}

Properties to_properties(const Container& container) {
  Properties out;
  out["Id"] = text_variant(container.id);
  out["Name"] = text_variant(container.name);
  out["Source"] = named(container.source);
  out["Stopped"] = sdbus::Variant(container.stopped);
  out["CgroupsPath"] = text_variant(container.cgroups_path);
  add_resources(out, container.resources);
  return out;
}

Container container_from(const Properties& properties) {
  Container out;
  out.id = value_of<std::string>(properties, "Id");
  out.name = value_of<std::string>(properties, "Name");
  out.source = enum_from(value_of<std::string>(properties, "Source"), ResourceSource::bundle,
                         ResourceSource::bundle);
  out.stopped = value_of<bool>(properties, "Stopped");
  out.cgroups_path = value_of<std::string>(properties, "CgroupsPath");
  out.resources = resources_from(properties);
  return out;
}

Properties overhead_properties(const PodAsked& asked) {
  Properties out;
  put_known(out, "Memory", asked.overhead.memory);
  put_known(out, "CpuMilli", asked.overhead.cpu_milli);
  if (!asked.overhead_source.empty()) out["Source"] = text_variant(asked.overhead_source);
  return out;
}

void read_overhead(const Properties& properties, PodAsked& asked) {
  asked.overhead.memory = plain_amount(properties, "Memory");
  asked.overhead.cpu_milli = plain_amount(properties, "CpuMilli");
  asked.overhead_source = value_of<std::string>(properties, "Source");
}

Properties requests_properties(const PodAsked& asked) {
  Properties out;
  put_known(out, "CpuMilli", asked.cpu_request_milli);
  put_known(out, "CpuLimitMilli", asked.limits.cpu_milli);
  put_known(out, "MemoryLimit", asked.limits.memory);
  if (!asked.requests_source.empty()) out["Source"] = text_variant(asked.requests_source);
  return out;
}

void read_requests(const Properties& properties, PodAsked& asked) {
  asked.cpu_request_milli = plain_amount(properties, "CpuMilli");
  asked.limits.cpu_milli = plain_amount(properties, "CpuLimitMilli");
  asked.limits.memory = plain_amount(properties, "MemoryLimit");
  asked.requests_source = value_of<std::string>(properties, "Source");
}

Properties to_properties(const ActiveCondition& condition) {
  const auto& about = info(condition.condition.condition);
  Properties out;
  out["Name"] = text_variant(about.name);
  out["Severity"] = named(condition.condition.severity);
  out["Text"] = text_variant(condition.condition.text);
  out["Since"] = sdbus::Variant(static_cast<std::uint64_t>(condition.since));
  return out;
}

std::optional<ActiveCondition> condition_from(const Properties& properties) {
  const auto wanted = value_of<std::string>(properties, "Name");
  for (const auto& about : all_conditions())
    if (about.name == wanted)
      return ActiveCondition{
          {about.condition, value_of<std::string>(properties, "Text"),
           enum_from(value_of<std::string>(properties, "Severity"), Severity::error,
                     about.severity)},
          static_cast<std::int64_t>(value_of<std::uint64_t>(properties, "Since"))};
  return std::nullopt;
}

}  // namespace kcg::bus
