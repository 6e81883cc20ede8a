// SPDX-License-Identifier: Apache-2.0
//
// A row names its field by member pointers, so that get and set cannot disagree.
#include "config/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"
#include "config/duration.hpp"
#include "model/ids.hpp"

namespace kcg {

namespace {

constexpr std::array<std::string_view, 2> kModes = {"enforce", "observe"};
constexpr std::array<std::string_view, 3> kHierarchies = {"auto", "v1", "v2"};
constexpr std::array<std::string_view, 2> kExisting = {"leave", "place"};
constexpr std::array<std::string_view, 3> kMemory = {"never", "annotated", "always"};

constexpr std::chrono::milliseconds kShortest = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
constexpr std::uint64_t kMostMib = 1'048'576;
constexpr std::uint64_t kMostMillicpu = 1'000'000;
constexpr std::size_t kMostPaths = 16;

/// Value: the parts of a row that differ within one kind of key.
struct Row {
  std::string_view name;
  bool restart;
  std::string_view text;
};

template <auto... Path>
auto& field(Config& config) {
  return (config.*....*Path);
}
template <auto... Path>
const auto& field(const Config& config) {
  return (config.*....*Path);
}

template <auto... Path>
ConfigValue get_plain(const Config& config, const std::string&) {
  return field<Path...>(config);
}

/// Sets from the alternative of the same type if `accept(value)`.
template <class T, bool (*Accept)(const T&), auto... Path>
bool set_plain(Config& config, const std::string&, const ConfigValue& value) {
  const auto* given = std::get_if<T>(&value);
  if (given == nullptr || !Accept(*given)) return false;
  field<Path...>(config) = *given;
  return true;
}

template <class T>
bool anything(const T&) {
  return true;
}

bool absolute_path(const std::string& text) {
  if (text == "/") return true;
  if (!text.starts_with('/') || text.size() > 4095) return false;
  for (const auto part : split(std::string_view(text).substr(1), '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool absolute_paths(const std::vector<std::string>& list) {
  return list.size() <= kMostPaths && std::all_of(list.begin(), list.end(), absolute_path);
}

bool cgroup_path(const std::string& text) {
  const auto path = CgroupPath::parse(text);
  return path && !path->is_root();
}

/// "transport:..." with nothing that could end a line or a word.
bool bus_address(const std::string& text) {
  if (text == "system" || text == "none") return true;
  const auto colon = text.find(':');
  return colon != std::string::npos && colon > 0 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

template <auto... Path>
ConfigKey flag(const Row& row) {
  return {row.name, "true or false",    row.restart,
          row.text, get_plain<Path...>, set_plain<bool, anything<bool>, Path...>};
}

template <auto... Path>
ConfigKey path(const Row& row) {
  return {row.name,           "an absolute path without '.', '..' and '//'", row.restart, row.text,
          get_plain<Path...>, set_plain<std::string, absolute_path, Path...>};
}

template <auto... Path>
ConfigKey paths(const Row& row) {
  return {row.name,           fmt::format("a list of up to {} absolute paths", kMostPaths),
          row.restart,        row.text,
          get_plain<Path...>, set_plain<std::vector<std::string>, absolute_paths, Path...>};
}

template <auto... Path>
ConfigKey cgroup(const Row& row) {
  return {row.name,           "the path of a cgroup, such as \"/kata\"",   row.restart, row.text,
          get_plain<Path...>, set_plain<std::string, cgroup_path, Path...>};
}

template <auto... Path>
ConfigKey address(const Row& row) {
  return {
      row.name,           "\"system\", \"none\" or a bus address such as \"unix:path=/run/bus\"",
      row.restart,        row.text,
      get_plain<Path...>, set_plain<std::string, bus_address, Path...>};
}

template <std::uint64_t Min, std::uint64_t Max>
bool in_range(const ConfigValue& value, std::uint64_t& number) {
  static_assert(Max <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given == nullptr || *given < static_cast<std::int64_t>(Min) ||
      *given > static_cast<std::int64_t>(Max))
    return false;
  number = static_cast<std::uint64_t>(*given);
  return true;
}

std::string range_text(std::uint64_t min, std::uint64_t max) {
  return fmt::format("a whole number from {} to {}", min, max);
}

template <std::uint64_t Min, std::uint64_t Max, auto... Path>
ConfigKey number(const Row& row) {
  return {row.name,
          range_text(Min, Max),
          row.restart,
          row.text,
          [](const Config& config, const std::string&) -> ConfigValue {
            return static_cast<std::int64_t>(field<Path...>(config));
          },
          [](Config& config, const std::string&, const ConfigValue& value) {
            return in_range<Min, Max>(value, field<Path...>(config));
          }};
}

template <std::uint64_t Max, auto Member>
ConfigKey handler(const Row& row) {
  return {row.name,
          range_text(0, Max),
          row.restart,
          row.text,
          [](const Config& config, const std::string& name) -> ConfigValue {
            const auto it = config.overhead.handlers.find(name);
            const HandlerOverhead known =
                it == config.overhead.handlers.end() ? HandlerOverhead{} : it->second;
            return static_cast<std::int64_t>(known.*Member);
          },
          [](Config& config, const std::string& name, const ConfigValue& value) {
            return in_range<0, Max>(value, config.overhead.handlers[name].*Member);
          }};
}

template <const auto& Names, auto... Path>
ConfigKey choice(const Row& row) {
  std::string type;
  for (const auto name : Names) type += fmt::format("{}\"{}\"", type.empty() ? "" : ", ", name);
  return {row.name,
          "one of " + type,
          row.restart,
          row.text,
          [](const Config& config, const std::string&) -> ConfigValue {
            return std::string(Names.at(static_cast<std::size_t>(field<Path...>(config))));
          },
          [](Config& config, const std::string&, const ConfigValue& value) {
            using Enum = std::remove_reference_t<decltype(field<Path...>(config))>;
            const auto* given = std::get_if<std::string>(&value);
            const auto it =
                given == nullptr ? Names.end() : std::find(Names.begin(), Names.end(), *given);
            if (it == Names.end()) return false;
            field<Path...>(config) = static_cast<Enum>(it - Names.begin());
            return true;
          }};
}

template <auto... Path>
ConfigKey duration(const Row& row) {
  return {row.name,
          "a duration from 1s to 24h, such as \"30s\", \"5m\"",
          row.restart,
          row.text,
          [](const Config& config, const std::string&) -> ConfigValue {
            return duration_text(field<Path...>(config));
          },
          [](Config& config, const std::string&, const ConfigValue& value) {
            const auto* given = std::get_if<std::string>(&value);
            const auto parsed = given == nullptr ? std::nullopt : parse_duration(*given);
            if (!parsed || *parsed < kShortest || *parsed > kLongest) return false;
            field<Path...>(config) = *parsed;
            return true;
          }};
}

/// "auto" or a flag; a flag in quotes is taken, too, as nothing else can be meant.
template <auto... Path>
ConfigKey automatic_flag(const Row& row) {
  return {row.name,
          "\"auto\", true or false",
          row.restart,
          row.text,
          [](const Config& config, const std::string&) -> ConfigValue {
            const std::optional<bool> set = field<Path...>(config);
            if (!set) return std::string("auto");
            return *set;
          },
          [](Config& config, const std::string&, const ConfigValue& value) {
            auto& target = field<Path...>(config);
            if (value == ConfigValue("auto"))
              target.reset();
            else if (value == ConfigValue(true) || value == ConfigValue("true"))
              target = true;
            else if (value == ConfigValue(false) || value == ConfigValue("false"))
              target = false;
            else
              return false;
            return true;
          }};
}

std::vector<ConfigKey> make_keys() {
  using C = Config;
  return {
      choice<kModes, &C::mode>(
          {"mode", false,
           "\"observe\": find, compute and report everything, and write nothing at all."}),
      choice<kHierarchies, &C::cgroup, &C::Cgroup::hierarchy>(
          {"cgroup.hierarchy", true,
           "Which cgroup rules apply. \"auto\" finds out from what is mounted."}),
      path<&C::cgroup, &C::Cgroup::root>(
          {"cgroup.root", true, "Where the cgroup file systems are mounted."}),
      automatic_flag<&C::layout, &C::LayoutSection::sandbox_cgroup_only>(
          {"layout.sandbox_cgroup_only", false,
           "true: the whole sandbox stays in the pod's cgroup. false: the legacy layout, with the "
           "hypervisor outside of it. \"auto\" follows Kata's own state, annotations and "
           "configuration.toml. Counts for sandboxes that start later."}),
      cgroup<&C::layout, &C::LayoutSection::legacy_root>(
          {"layout.legacy_root", true,
           "Legacy layout: the group that holds what is not limited by the pod."}),
      flag<&C::layout, &C::LayoutSection::allow_annotation>(
          {"layout.allow_annotation", false,
           "Whether a pod's annotation may select the legacy layout, which takes memory out of the "
           "pod's limit. Leave it off where tenants write pods."}),
      flag<&C::placement, &C::Placement::thread_groups>(
          {"placement.thread_groups", false,
           "Separate groups for vCPU, I/O, VMM and shim threads below the sandbox's group."}),
      choice<kExisting, &C::placement, &C::Placement::existing>(
          {"placement.existing", true,
           "Sandboxes that ran before the daemon's first start on this boot: \"leave\" them alone, "
           "or \"place\" them although their memory stays charged where it was."}),
      number<0, kMostMib, &C::overhead, &C::Overhead::default_mib>(
          {"overhead.default_mib", false,
           "Memory overhead in MiB of a sandbox whose pod, annotation and handler say nothing."}),
      number<0, kMostMillicpu, &C::overhead, &C::Overhead::default_millicpu>(
          {"overhead.default_millicpu", false, "The same for CPU, in thousandths of a CPU."}),
      number<1, kMostMib, &C::overhead, &C::Overhead::max_mib>(
          {"overhead.max_mib", false,
           "The largest overhead in MiB that a pod's annotation may ask for."}),
      handler<kMostMib, &HandlerOverhead::mib>(
          {"overhead.handlers.*.mib", false,
           "Memory overhead in MiB of the pods of one runtime handler. Any handler may have a "
           "table of its own."}),
      handler<kMostMillicpu, &HandlerOverhead::millicpu>(
          {"overhead.handlers.*.millicpu", false, "The same for CPU, in thousandths of a CPU."}),
      choice<kMemory, &C::sizing, &C::Sizing::memory>(
          {"sizing.memory", false,
           "When the sandbox's group gets a memory limit of its own, containers plus overhead: "
           "\"never\", only where an \"annotated\" or granted overhead is known, or \"always\"."}),
      flag<&C::sizing, &C::Sizing::vcpu_quota>(
          {"sizing.vcpu_quota", false,
           "Limit the vCPU threads to the sum of the containers' CPU limits."}),
      path<&C::discovery, &C::Discovery::containerd_state>(
          {"discovery.containerd_state", true, "containerd's state directory."}),
      path<&C::discovery, &C::Discovery::crio_root>(
          {"discovery.crio_root", true, "CRI-O's run root, where its bundles are."}),
      paths<&C::discovery, &C::Discovery::kata_state>(
          {"discovery.kata_state", true,
           "Where Kata keeps its sandboxes' state: the Go shim's directory, then runtime-rs's."}),
      paths<&C::discovery, &C::Discovery::kata_config>(
          {"discovery.kata_config", true,
           "Kata's own configuration; the first file that exists is read."}),
      duration<&C::reconcile_interval>(
          {"reconcile.interval", false,
           "How often everything is compared with the kernel even if nothing was reported."}),
      address<&C::bus_address>(
          {"bus.address", true,
           "Where the D-Bus API is served: the \"system\" bus, an address, or \"none\"."}),
      address<&C::systemd_address>(
          {"systemd.address", true, "Where systemd's manager is reached to make scopes."}),
      number<1, 1'000'000, &C::limits, &C::Limits::max_sandboxes>(
          {"limits.max_sandboxes", false, "Sandboxes beyond this number are ignored."}),
      number<1, 4'194'304, &C::limits, &C::Limits::max_threads_per_sandbox>(
          {"limits.max_threads_per_sandbox", false,
           "Threads of one sandbox beyond this number are not placed one by one."}),
      number<4096, 67'108'864, &C::limits, &C::Limits::max_bundle_bytes>(
          {"limits.max_bundle_bytes", false, "A larger bundle or state file is not read."}),
  };
}

}  // namespace

std::string ConfigKey::full_name(std::string_view handler_name) const {
  std::string full(name);
  const auto star = full.find('*');
  if (star != std::string::npos) full.replace(star, 1, toml_key(handler_name));
  return full;
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

}  // namespace kcg
