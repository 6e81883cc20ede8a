// SPDX-License-Identifier: Apache-2.0
//
// The kinds of configuration keys (L3, private to config/keys.cpp): what each takes, how it is
// shown. A row names its field by member pointers, so that get, set and copy cannot disagree.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/text.hpp"
#include "config/duration.hpp"
#include "config/keys.hpp"
#include "model/ids.hpp"

namespace kcg::key_kinds {

inline constexpr std::chrono::milliseconds kShortest = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
inline constexpr std::size_t kMostPaths = 16;

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

template <auto... Path>
void copy_plain(const Config& from, Config& to) {
  field<Path...>(to) = field<Path...>(from);
}

template <class T>
bool anything(const T&) {
  return true;
}

inline bool absolute_path(const std::string& text) {
  if (text == "/") return true;
  if (!text.starts_with('/') || text.size() > 4095) return false;
  for (const auto part : split(std::string_view(text).substr(1), '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

inline bool absolute_paths(const std::vector<std::string>& list) {
  return list.size() <= kMostPaths && std::all_of(list.begin(), list.end(), absolute_path);
}

/// A name that systemd or the kubelet give to what they manage.
inline bool others_manage(std::string_view name) {
  return name == "kubepods" || name.ends_with(".slice") || name.ends_with(".scope") ||
         name.ends_with(".service");
}

/// A group that can be ours: neither the root nor inside what others manage.
inline bool own_cgroup(const std::string& text) {
  const auto path = CgroupPath::parse(text);
  if (!path || path->is_root()) return false;
  const auto full = path->str();
  const auto names = split(std::string_view(full).substr(1), '/');
  return std::none_of(names.begin(), names.end(), others_manage);
}

/// "key=value,key=value", both never empty.
inline bool bus_parameters(std::string_view text) {
  const auto parts = split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const auto equals = part.find('=');
    return equals != std::string_view::npos && equals > 0 && equals + 1 < part.size();
  });
}

/// "transport:key=value", several of them separated by ';', with nothing that could end a line or a
/// word.
inline bool bus_address(const std::string& text) {
  if (text == "system" || text == "none") return true;
  const auto addresses = split(text, ';');
  return text.size() < 4096 &&
         std::all_of(
             text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; }) &&
         std::all_of(
             addresses.begin(), addresses.end(),
             [](std::string_view one) {
               const auto colon = one.find(':');
               return colon != std::string_view::npos && colon > 0 &&
                      bus_parameters(one.substr(colon + 1));
             });
}

template <auto... Path>
ConfigKey flag(const Row& row) {
  return {row.name,           "true or false",    row.restart,
          row.text,           get_plain<Path...>, set_plain<bool, anything<bool>, Path...>,
          copy_plain<Path...>};
}

template <auto... Path>
ConfigKey path(const Row& row) {
  return {row.name,           "an absolute path without '.', '..' and '//'",
          row.restart,        row.text,
          get_plain<Path...>, set_plain<std::string, absolute_path, Path...>,
          copy_plain<Path...>};
}

template <auto... Path>
ConfigKey paths(const Row& row) {
  return {row.name,           fmt::format("a list of up to {} absolute paths", kMostPaths),
          row.restart,        row.text,
          get_plain<Path...>, set_plain<std::vector<std::string>, absolute_paths, Path...>,
          copy_plain<Path...>};
}

template <auto... Path>
ConfigKey cgroup(const Row& row) {
  return {
      row.name,
      "the path of a cgroup of its own, such as \"/kata\": not the root, and nothing in a slice, "
      "a scope, a service or \"kubepods\"",
      row.restart,
      row.text,
      get_plain<Path...>,
      set_plain<std::string, own_cgroup, Path...>,
      copy_plain<Path...>};
}

template <auto... Path>
ConfigKey address(const Row& row) {
  return {
      row.name,           "\"system\", \"none\" or a bus address such as \"unix:path=/run/bus\"",
      row.restart,        row.text,
      get_plain<Path...>, set_plain<std::string, bus_address, Path...>,
      copy_plain<Path...>};
}

template <std::uint64_t Min, std::uint64_t Max>
std::optional<std::uint64_t> in_range(const ConfigValue& value) {
  static_assert(Max <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto* given = std::get_if<std::int64_t>(&value);
  if (given == nullptr || *given < 0) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(*given);
  return number < Min || number > Max ? std::nullopt : std::optional(number);
}

inline std::string range_text(std::uint64_t min, std::uint64_t max) {
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
            const auto number = in_range<Min, Max>(value);
            if (number) field<Path...>(config) = *number;
            return number.has_value();
          },
          copy_plain<Path...>};
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
            const auto number = in_range<0, Max>(value);
            if (number) config.overhead.handlers[name].*Member = *number;
            return number.has_value();
          },
          [](const Config& from, Config& to) { to.overhead.handlers = from.overhead.handlers; }};
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
          },
          copy_plain<Path...>};
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
          },
          copy_plain<Path...>};
}

/// "off", or a duration.
template <auto... Path>
ConfigKey duration_or_off(const Row& row) {
  return {row.name,
          "\"off\" or a duration from 1s to 24h, such as \"10s\", \"1m\"",
          row.restart,
          row.text,
          [](const Config& config, const std::string&) -> ConfigValue {
            const auto& set = field<Path...>(config);
            return set ? duration_text(*set) : "off";
          },
          [](Config& config, const std::string&, const ConfigValue& value) {
            const auto* given = std::get_if<std::string>(&value);
            const auto parsed = given == nullptr ? std::nullopt : parse_duration(*given);
            const bool off = given != nullptr && *given == "off";
            if (!off && (!parsed || *parsed < kShortest || *parsed > kLongest)) return false;
            field<Path...>(config) = parsed;
            return true;
          },
          copy_plain<Path...>};
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
          },
          copy_plain<Path...>};
}

}  // namespace kcg::key_kinds
