// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/registration.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "daemon/bus/convert_parts.hpp"
#include "daemon/bus/pidfd.hpp"
#include "daemon/manager.hpp"

namespace kcg::bus {

namespace {

using Variant = sdbus::Variant;
using ContainerList = std::vector<sdbus::Struct<std::string, Properties>>;

constexpr int kInvalid = static_cast<int>(ManagerError::invalid_argument);

/// Value: a key, the type of its value, and what it sets.
struct Key {
  std::string_view name;
  std::string_view type;
  Status (*set)(Registration&, const Variant&);
};

struct ContainerKey {
  std::string_view name;
  std::string_view type;
};

constexpr std::array<ContainerKey, 7> kContainerKeys = {{{"CpuPeriod", "t"},
                                                         {"CpuQuota", "t"},
                                                         {"CpuShares", "t"},
                                                         {"Cpus", "s"},
                                                         {"Hugepages", "a{st}"},
                                                         {"MemoryLimit", "t"},
                                                         {"Mems", "s"}}};

std::string type_of(const Variant& value) { return std::string(value.peekValueType()); }

template <std::size_t N, class Row>
const Row* find(const std::array<Row, N>& rows, std::string_view name) {
  const auto* const it =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return it == rows.end() ? nullptr : it;
}

template <class Row>
Status check_type(const Row& row, const Variant& value) {
  if (type_of(value) == row.type) return {};
  return fail(kInvalid, "{}: a value of type '{}', must be '{}'", row.name, type_of(value),
              row.type);
}

Status check_container(const Properties& properties) {
  for (const auto& [key, value] : properties) {
    const auto* const row = find(kContainerKeys, key);
    if (row == nullptr) return fail(kInvalid, "unknown key '{}'", escaped(key));
    if (auto status = check_type(*row, value); !status) return status;
  }
  return {};
}

Status set_containers(Registration& out, const Variant& value) {
  for (const auto& container : value.get<ContainerList>()) {
    const auto& id = container.get<0>();
    const auto context = fmt::format("Containers: '{}'", escaped(id));
    if (auto status = check_container(container.get<1>()); !status)
      return forward(status.error(), context);
    if (!out.containers.emplace(id, resources_from(container.get<1>())).second)
      return fail(kInvalid, "{}: given twice", context);
  }
  return {};
}

template <auto Member>
Status set_task(Registration& out, const Variant& value) {
  const auto task = task_of_pidfd(value.get<sdbus::UnixFd>().get());
  if (!task) return fail(kInvalid, "{}", task.error().text);
  out.*Member = *task;
  return {};
}

template <class T, auto Member>
Status set(Registration& out, const Variant& value) {
  out.*Member = value.get<T>();
  return {};
}

template <auto Member>
Status set_pod(Registration& out, const Variant& value) {
  out.pod.*Member = value.get<std::string>();
  return {};
}

constexpr std::array<Key, 12> kKeys = {{
    {"Annotations", "a{ss}", &set<std::map<std::string, std::string>, &Registration::annotations>},
    {"CgroupsPath", "s", &set<std::string, &Registration::cgroups_path>},
    {"Containers", "a(sa{sv})", &set_containers},
    {"CpuOverheadMilli", "u", &set<std::uint32_t, &Registration::cpu_overhead_milli>},
    {"MemoryOverhead", "t", &set<std::uint64_t, &Registration::memory_overhead>},
    {"PodName", "s", &set_pod<&PodName::name>},
    {"PodNamespace", "s", &set_pod<&PodName::ns>},
    {"PodUid", "s", &set_pod<&PodName::uid>},
    {"RuntimeHandler", "s", &set<std::string, &Registration::handler>},
    {"SandboxCgroupOnly", "b", &set<bool, &Registration::sandbox_cgroup_only>},
    {"ShimPidFd", "h", &set_task<&Registration::shim>},
    {"VmmPidFd", "h", &set_task<&Registration::vmm>},
}};

std::string known_keys() {
  std::string out;
  for (const auto& key : kKeys) {
    if (!out.empty()) out += ", ";
    out += key.name;
  }
  return out;
}

Status read_key(Registration& out, const std::string& name, const Variant& value) {
  const auto* const key = find(kKeys, name);
  if (key == nullptr)
    return fail(kInvalid, "unknown key '{}'; known are: {}", escaped(name), known_keys());
  if (auto status = check_type(*key, value); !status) return status;
  if (auto status = key->set(out, value); !status) return forward(status.error(), key->name);
  return {};
}

}  // namespace

Result<Registration> registration_from(const Properties& properties) {
  Registration out;
  for (const auto& [name, value] : properties) {
    try {
      if (auto status = read_key(out, name, value); !status) return forward(status.error());
    } catch (const sdbus::Error& error) {
      return fail(kInvalid, "{}: {}", escaped(name), error.getMessage());
    }
  }
  return out;
}

std::vector<std::string> registration_keys() {
  std::vector<std::string> names;
  for (const auto& key : kKeys) names.emplace_back(key.name);
  return names;
}

}  // namespace kcg::bus
