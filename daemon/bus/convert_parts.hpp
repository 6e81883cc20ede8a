// SPDX-License-Identifier: Apache-2.0
//
// The structured properties of the Sandbox interface (L9): threads, groups, containers, conditions.
// Readers throw sdbus::Error on a value of the wrong type; convert.cpp and registration.cpp catch
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "daemon/bus/compat.hpp"
#include "model/view.hpp"

namespace kcg::bus {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

/// The value whose name() is `text`, among those up to `last`; `fallback` if there is none.
template <class Enum>
[[nodiscard]] Enum enum_from(std::string_view text, Enum last, Enum fallback) {
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  return fallback;
}

/// Text for the bus, which takes nothing but UTF-8.
[[nodiscard]] inline sdbus::Variant text_variant(std::string_view text) {
  return sdbus::Variant(valid_utf8(text));
}

using TextMap = std::map<std::string, std::string>;
[[nodiscard]] TextMap clean(const TextMap& map);

/// The value of a key, or a default-made T if the key is missing.
template <class T>
[[nodiscard]] T value_of(const Properties& properties, const char* key) {
  const auto it = properties.find(key);
  return it == properties.end() ? T{} : it->second.get<T>();
}

[[nodiscard]] Properties to_properties(const ThreadView& thread);
[[nodiscard]] Properties to_properties(const GroupView& group);
[[nodiscard]] Properties to_properties(const Container& container);
[[nodiscard]] Properties to_properties(const ActiveCondition& condition);

[[nodiscard]] ThreadView thread_from(const Properties& properties);
[[nodiscard]] GroupView group_from(const Properties& properties);
[[nodiscard]] Container container_from(const Properties& properties);
/// nullopt: a condition that this version does not know.
[[nodiscard]] std::optional<ActiveCondition> condition_from(const Properties& properties);

/// PodOverhead and PodRequests, and back.
[[nodiscard]] Properties overhead_properties(const PodAsked& asked);
[[nodiscard]] Properties requests_properties(const PodAsked& asked);
void read_overhead(const Properties& properties, PodAsked& asked);
void read_requests(const Properties& properties, PodAsked& asked);

/// The keys of a container's limits; also those of RegisterSandbox.
void add_resources(Properties& properties, const Resources& resources);
[[nodiscard]] Resources resources_from(const Properties& properties);

}  // namespace kcg::bus
