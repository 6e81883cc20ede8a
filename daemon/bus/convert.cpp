// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/convert.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "daemon/bus/convert_parts.hpp"
#include "show/group_tree.hpp"

namespace kcg::bus {

namespace {

using View = SandboxView;
using Variant = sdbus::Variant;

/// Value: one row of the table. `listed`: part of ListSandboxes. Without `set` the property follows
/// from others and is not read back.
struct Row {
  std::string_view name;
  bool listed;
  Variant (*get)(const View&);
  void (*set)(View&, const Variant&);
  bool (*same)(const View&, const View&);
};

template <auto Member>
constexpr bool same_member(const View& a, const View& b) {
  return a.*Member == b.*Member;
}

template <auto Member>
constexpr Row text_row(std::string_view name, bool listed) {
  return {name, listed, [](const View& v) { return text_variant(v.*Member); },
          [](View& v, const Variant& value) { v.*Member = value.get<std::string>(); },
          &same_member<Member>};
}

template <auto Member, auto Last>
constexpr Row enum_row(std::string_view name, bool listed) {
  return {name, listed, [](const View& v) { return text_variant(kcg::name(v.*Member)); },
          [](View& v, const Variant& value) {
            v.*Member = enum_from(value.get<std::string>(), Last, View{}.*Member);
          },
          &same_member<Member>};
}

template <auto Member>
constexpr Row pid_row(std::string_view name) {
  return {name, true, [](const View& v) { return Variant(static_cast<std::uint32_t>(v.*Member)); },
          [](View& v, const Variant& value) {
            v.*Member = static_cast<Pid>(value.get<std::uint32_t>());
          },
          &same_member<Member>};
}

/// Absent is the largest number, and the other way round.
template <auto Member>
constexpr Row bytes_row(std::string_view name) {
  return {name, true, [](const View& v) { return Variant((v.*Member).value_or(kUnlimited)); },
          [](View& v, const Variant& value) {
            const auto bytes = value.get<std::uint64_t>();
            v.*Member = bytes == kUnlimited ? std::nullopt : std::optional(bytes);
          },
          &same_member<Member>};
}

/// Its changes are not announced: the XML says EmitsChangedSignal=false.
constexpr Row silent(Row row) {
  row.same = [](const View&, const View&) { return true; };
  return row;
}

template <class Part>
Variant list_variant(const std::vector<Part>& parts) {
  PropertiesList list;
  for (const auto& part : parts) list.push_back(to_properties(part));
  return Variant(list);
}

template <class Part>
std::vector<Part> list_from(const Variant& value, Part (*read)(const Properties&)) {
  std::vector<Part> parts;
  for (const auto& one : value.get<PropertiesList>()) parts.push_back(read(one));
  return parts;
}

/// Limits of the group that the sandbox's containers are accounted in.
TextMap main_limits(const View& view) {
  for (const auto& group : view.groups)
    if (group.path == view.sandbox_cgroup && group.exists) return group.limits;
  return {};
}

void set_conditions(View& view, const Variant& value) {
  view.conditions.clear();
  for (const auto& one : value.get<PropertiesList>())
    if (auto condition = condition_from(one)) view.conditions.push_back(*std::move(condition));
}

std::uint32_t saturated(std::uint64_t value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(value, kMax));
}

constexpr std::array kRows = {
    text_row<&View::id>("Id", true),
    text_row<&View::pod_namespace>("PodNamespace", true),
    text_row<&View::pod_name>("PodName", true),
    text_row<&View::pod_uid>("PodUid", true),
    text_row<&View::handler>("RuntimeHandler", true),
    enum_row<&View::engine, Engine::none>("Engine", true),
    enum_row<&View::layout, Layout::legacy>("Layout", true),
    enum_row<&View::layout_source, LayoutSource::default_value>("LayoutSource", true),
    enum_row<&View::driver, Driver::systemd>("Driver", true),
    enum_row<&View::state, SandboxState::removing>("State", true),
    text_row<&View::pod_cgroup>("PodCgroup", false),
    Row{"PodLimits", false, [](const View& v) { return Variant(clean(v.pod_limits)); },
        [](View& v, const Variant& value) { v.pod_limits = value.get<TextMap>(); },
        &same_member<&View::pod_limits>},
    text_row<&View::sandbox_cgroup>("SandboxCgroup", false),
    text_row<&View::overhead_cgroup>("OverheadCgroup", false),
    enum_row<&View::hypervisor, Hypervisor::remote>("Hypervisor", true),
    pid_row<&View::shim_pid>("ShimPid"),
    pid_row<&View::vmm_pid>("VmmPid"),
    Row{"VcpuCount", true, [](const View& v) { return Variant(v.vcpus); },
        [](View& v, const Variant& value) { v.vcpus = value.get<std::uint32_t>(); },
        &same_member<&View::vcpus>},
    Row{"Created", true,
        [](const View& v) { return Variant(static_cast<std::uint64_t>(v.created)); },
        [](View& v, const Variant& value) {
          v.created = static_cast<std::int64_t>(value.get<std::uint64_t>());
        },
        &same_member<&View::created>},
    Row{"MemoryOverhead", true, [](const View& v) { return Variant(v.overhead.memory_bytes); },
        [](View& v, const Variant& value) { v.overhead.memory_bytes = value.get<std::uint64_t>(); },
        [](const View& a, const View& b) {
          return a.overhead.memory_bytes == b.overhead.memory_bytes;
        }},
    Row{"MemoryOverheadSource", true,
        [](const View& v) { return text_variant(name(v.overhead.source)); },
        [](View& v, const Variant& value) {
          v.overhead.source = enum_from(value.get<std::string>(), OverheadSource::default_value,
                                        OverheadSource::default_value);
        },
        [](const View& a, const View& b) { return a.overhead.source == b.overhead.source; }},
    Row{"CpuOverheadMilli", true,
        [](const View& v) { return Variant(saturated(v.overhead.cpu_milli)); },
        [](View& v, const Variant& value) { v.overhead.cpu_milli = value.get<std::uint32_t>(); },
        [](const View& a, const View& b) { return a.overhead.cpu_milli == b.overhead.cpu_milli; }},
    silent(bytes_row<&View::memory_used>("MemoryCurrent")),
    bytes_row<&View::memory_limit>("MemoryLimit"),
    silent(bytes_row<&View::overhead_used>("MemoryOverheadUsed")),
    silent(bytes_row<&View::overhead_peak>("MemoryOverheadPeak")),
    silent(bytes_row<&View::cpu_milli>("CpuUsedMilli")),
    Row{"Limits", false, [](const View& v) { return Variant(clean(main_limits(v))); }, nullptr,
        [](const View& a, const View& b) { return main_limits(a) == main_limits(b); }},
    Row{"Threads", false, [](const View& v) { return list_variant(v.threads); },
        [](View& v, const Variant& value) { v.threads = list_from(value, &thread_from); },
        &same_member<&View::threads>},
    Row{"Groups", false, [](const View& v) { return list_variant(v.groups); },
        [](View& v, const Variant& value) { v.groups = list_from(value, &group_from); },
        &same_member<&View::groups>},
    Row{"Containers", false, [](const View& v) { return list_variant(v.containers); },
        [](View& v, const Variant& value) { v.containers = list_from(value, &container_from); },
        &same_member<&View::containers>},
    Row{"PodOverhead", false, [](const View& v) { return Variant(overhead_properties(v.asked)); },
        [](View& v, const Variant& value) { read_overhead(value.get<Properties>(), v.asked); },
        [](const View& a, const View& b) {
          return a.asked.overhead == b.asked.overhead &&
                 a.asked.overhead_source == b.asked.overhead_source;
        }},
    Row{"PodRequests", false, [](const View& v) { return Variant(requests_properties(v.asked)); },
        [](View& v, const Variant& value) { read_requests(value.get<Properties>(), v.asked); },
        [](const View& a, const View& b) {
          return a.asked.limits == b.asked.limits &&
                 a.asked.cpu_request_milli == b.asked.cpu_request_milli;
        }},
    Row{"PodLabels", false, [](const View& v) { return Variant(clean(v.asked.labels)); },
        [](View& v, const Variant& value) { v.asked.labels = value.get<TextMap>(); },
        [](const View& a, const View& b) { return a.asked.labels == b.asked.labels; }},
    Row{"Conditions", true, [](const View& v) { return list_variant(v.conditions); },
        &set_conditions, &same_member<&View::conditions>},
};

constexpr std::string_view kReason = "Reason";

void read_property(SandboxView& view, const std::string& key, const Variant& value) {
  if (key == kReason) view.ignored = value.get<std::string>();
  for (const auto& row : kRows)
    if (row.name == key && row.set != nullptr) row.set(view, value);
}

}  // namespace

sdbus::Variant property(const SandboxView& view, std::string_view name) {
  for (const auto& row : kRows)
    if (row.name == name) return row.get(view);
  throw make_error("org.freedesktop.DBus.Error.UnknownProperty", std::string(name));
}

Properties overview(const SandboxView& view) {
  Properties out;
  for (const auto& row : kRows)
    if (row.listed) out.emplace(row.name, row.get(view));
  return out;
}

Properties ignored_overview(const SandboxView& view) {
  Properties out = overview(view);
  out.emplace(kReason, text_variant(view.ignored));
  return out;
}

std::vector<std::string> changed_properties(const SandboxView& before, const SandboxView& after) {
  std::vector<std::string> names;
  for (const auto& row : kRows)
    if (!row.same(before, after)) names.emplace_back(row.name);
  return names;
}

Properties stats(const SandboxView& view) {
  std::array<std::uint64_t, 4> by_class{};
  std::uint64_t sum = 0;
  std::uint32_t wrong = 0;
  for (const auto& thread : view.threads) {
    by_class.at(static_cast<std::size_t>(thread.cls)) += thread.cpu_usec;
    sum += thread.cpu_usec;
    wrong += misplaced(thread) ? 1U : 0U;
  }
  Properties out;
  if (view.memory_used) out["MemoryCurrent"] = Variant(*view.memory_used);
  out["MemoryLimit"] = Variant(view.memory_limit.value_or(kUnlimited));
  out["CpuUsec"] = Variant(sum);
  out["CpuUsecVcpu"] = Variant(by_class[0]);
  out["CpuUsecIo"] = Variant(by_class[1]);
  out["CpuUsecVmm"] = Variant(by_class[2]);
  out["CpuUsecShim"] = Variant(by_class[3]);
  out["ThreadCount"] = Variant(static_cast<std::uint32_t>(view.threads.size()));
  out["MisplacedThreads"] = Variant(wrong);
  return out;
}

Properties registered_properties(const RegisteredView& view) {
  Properties out = {{"Uid", Variant(view.uid)}};
  const auto put_text = [&](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text_variant(text);
  };
  const auto put_pid = [&](const char* key, Pid pid) {
    if (pid > 0) out[key] = Variant(static_cast<std::uint32_t>(pid));
  };
  if (view.since > 0) out["Since"] = Variant(static_cast<std::uint64_t>(view.since));
  put_text("PodNamespace", view.pod.ns);
  put_text("PodName", view.pod.name);
  put_text("PodUid", view.pod.uid);
  put_text("CgroupsPath", view.cgroups_path);
  put_pid("ShimPid", view.shim_pid);
  put_pid("VmmPid", view.vmm_pid);
  return out;
}

Result<RegisteredView> registered_from(const Properties& properties) {
  RegisteredView view;
  try {
    view.uid = value_of<std::uint32_t>(properties, "Uid");
    view.since = static_cast<std::int64_t>(value_of<std::uint64_t>(properties, "Since"));
    view.pod.ns = value_of<std::string>(properties, "PodNamespace");
    view.pod.name = value_of<std::string>(properties, "PodName");
    view.pod.uid = value_of<std::string>(properties, "PodUid");
    view.cgroups_path = value_of<std::string>(properties, "CgroupsPath");
    view.shim_pid = static_cast<Pid>(value_of<std::uint32_t>(properties, "ShimPid"));
    view.vmm_pid = static_cast<Pid>(value_of<std::uint32_t>(properties, "VmmPid"));
  } catch (const sdbus::Error& error) {
    return fail(0, "a registration of an unexpected form: {}", error.getMessage());
  }
  return view;
}

Result<SandboxView> view_from(const Properties& properties) {
  SandboxView view;
  for (const auto& [key, value] : properties) {
    try {
      read_property(view, key, value);
    } catch (const sdbus::Error& error) {
      return fail(0, "property {}: unexpected type '{}': {}", key, value.peekValueType(),
                  error.getMessage());
    }
  }
  return view;
}

std::vector<std::string> property_names() {
  std::vector<std::string> names;
  for (const auto& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace kcg::bus
