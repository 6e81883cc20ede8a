// SPDX-License-Identifier: Apache-2.0
//
// Validated identifiers (L1). Text from files, the bus and people becomes one of these at the
// border and is never re-checked behind it.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

using Pid = std::int32_t;

/// Value: one task over its whole life. Pids are reused, (pid, start time) is not.
/// `start` is field 22 of /proc/<pid>/stat, in clock ticks since boot.
struct TaskKey {
  Pid pid = 0;
  std::uint64_t start = 0;
  auto operator<=>(const TaskKey&) const = default;
};

/// Order of two texts, of which one that is the same object needs no look. nullptr: before all.
[[nodiscard]] std::strong_ordering compare_shared(const std::string* a, const std::string* b);

/// Value: a sandbox's id, [A-Za-z0-9][A-Za-z0-9_.-]{0,127}. Copies share their text, and so
/// do those that one thread has parsed while another one of the same text lived.
class SandboxId final {
 public:
  SandboxId() = default;  ///< no id; equal to no parsed one
  [[nodiscard]] static Result<SandboxId> parse(std::string_view text);
  [[nodiscard]] const std::string& str() const;
  std::strong_ordering operator<=>(const SandboxId& other) const {
    return compare_shared(text_.get(), other.text_.get());
  }
  bool operator==(const SandboxId& other) const { return (*this <=> other) == 0; }

 private:
  explicit SandboxId(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
  std::shared_ptr<const std::string> text_;  ///< nullptr: no id
};

/// Value: a cgroup below the root of a hierarchy: "/" or "/a/b", lexically clean. No component is
/// "." or "..", longer than 255 bytes, contains NUL or newline, or is named like a kernel file.
/// Copies share their text, and so do those above with those below: the same few paths stand in
/// whatever is known of a sandbox.
class CgroupPath final {
 public:
  CgroupPath() = default;  ///< the root
  /// `text` must be clean already; lexical cleaning of OCI paths is in oci/cgroups_path.
  [[nodiscard]] static Result<CgroupPath> parse(std::string_view text);
  /// One component more; the same rules apply.
  [[nodiscard]] Result<CgroupPath> child(std::string_view name) const;
  [[nodiscard]] CgroupPath parent() const;
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] bool is_root() const { return length_ == 0; }
  /// True for `above` itself and everything below it.
  [[nodiscard]] bool within(const CgroupPath& above) const;
  /// Lives as long as this path or a copy of it.
  [[nodiscard]] std::string_view str() const { return is_root() ? "/" : text(); }
  /// For openat2 beneath a hierarchy's root: "a/b", or "." for the root.
  [[nodiscard]] std::string relative() const;
  std::strong_ordering operator<=>(const CgroupPath& other) const;
  bool operator==(const CgroupPath& other) const { return (*this <=> other) == 0; }

 private:
  [[nodiscard]] Result<CgroupPath> joined(std::string_view below) const;
  CgroupPath(std::shared_ptr<const char[]> text, std::size_t length)
      : text_(std::move(text)), length_(static_cast<std::uint32_t>(length)) {}
  [[nodiscard]] std::string_view text() const { return {text_.get(), length_}; }
  std::shared_ptr<const char[]> text_;  ///< of this path, or of one below it
  std::uint32_t length_ = 0;            ///< 0: the root
};

/// Value: what a hierarchy is called: "v2", or v1's controllers as mounted, "cpu,cpuacct". All of
/// one name share its text, which is kept for ever: a machine has a dozen, and thousands of groups
/// name them. What somebody else may choose never becomes one.
class HierarchyName final {
 public:
  HierarchyName() = default;               ///< none; equal to ""
  HierarchyName(std::string_view text);    // NOLINT(google-explicit-constructor)
  HierarchyName(const std::string& text);  // NOLINT(google-explicit-constructor)
  HierarchyName(const char* text);         // NOLINT(google-explicit-constructor)
  [[nodiscard]] const std::string& str() const;
  operator const std::string&() const { return str(); }  // NOLINT(google-explicit-constructor)
  std::strong_ordering operator<=>(const HierarchyName& other) const {
    return compare_shared(text_, other.text_);
  }
  bool operator==(const HierarchyName& other) const { return text_ == other.text_; }

 private:
  const std::string* text_ = nullptr;
};

/// Empty when `name` may be one component of a cgroup path, else the rule that it breaks.
[[nodiscard]] std::string_view component_problem(std::string_view name);

}  // namespace kcg

template <>
struct std::hash<kcg::SandboxId> {
  std::size_t operator()(const kcg::SandboxId& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
