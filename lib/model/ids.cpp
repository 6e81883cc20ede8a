// SPDX-License-Identifier: Apache-2.0
#include "model/ids.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/text.hpp"

namespace kcg {

namespace {

bool alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr std::size_t kLongestPath = 4095;

/// Controllers whose files the kernel puts into a group's directory ("memory.max", ...).
constexpr std::array<std::string_view, 19> kKernelPrefixes = {
    "cgroup",  "cpu",        "cpuacct",  "cpuset",  "memory", "io",   "pids",
    "blkio",   "hugetlb",    "devices",  "freezer", "rdma",   "misc", "dmem",
    "net_cls", "perf_event", "net_prio", "debug",   "irq"};

}  // namespace

std::strong_ordering compare_shared(const std::string* a, const std::string* b) {
  if (a == b) return std::strong_ordering::equal;
  if (a == nullptr || b == nullptr) return (a != nullptr) <=> (b != nullptr);
  const int common = std::memcmp(a->data(), b->data(), std::min(a->size(), b->size()));
  return common != 0 ? common <=> 0 : a->size() <=> b->size();
}

Result<SandboxId> SandboxId::parse(std::string_view text) {
  const bool shape = !text.empty() && text.size() <= 128 && alnum(text.front()) &&
                     std::all_of(text.begin(), text.end(), [](char c) {
                       return alnum(c) || c == '_' || c == '.' || c == '-';
                     });
  if (!shape)
    return fail(0, "sandbox id '{}': must match [A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}", escaped(text));
  return SandboxId(std::string(text));
}

const std::string& SandboxId::str() const {
  static const std::string kNone;
  return text_ == nullptr ? kNone : *text_;
}

std::string_view component_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "is '.' or '..'";
  if (name.size() > 255) return "is longer than 255 bytes";
  if (name.find('/') != std::string_view::npos) return "contains '/'";
  if (name.find('\0') != std::string_view::npos) return "contains NUL";
  if (name.find('\n') != std::string_view::npos) return "contains a newline";
  if (name == "tasks" || name == "notify_on_release" || name == "release_agent")
    return "is the name of a kernel file";
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return "";
  const auto prefix = name.substr(0, dot);
  const bool kernel =
      std::find(kKernelPrefixes.begin(), kKernelPrefixes.end(), prefix) != kKernelPrefixes.end();
  return kernel ? "is named like a kernel file" : "";
}

Result<CgroupPath> CgroupPath::parse(std::string_view text) {
  if (text == "/") return CgroupPath();
  if (text.empty() || text.front() != '/')
    return fail(0, "cgroup path '{}': must start with '/'", escaped(text, 256));
  for (auto left = text; !left.empty();) {
    left.remove_prefix(1);
    const auto part = left.substr(0, left.find('/'));
    left.remove_prefix(part.size());
    const auto problem = component_problem(part);
    if (!problem.empty())
      return fail(0, "cgroup path '{}': component '{}' {}", escaped(text, 256), escaped(part),
                  problem);
  }
  return of_components(std::string(text));
}

Result<CgroupPath> CgroupPath::of_components(std::string text) {
  if (text.size() > kLongestPath)
    return fail(0, "cgroup path '{}': longer than {} bytes", escaped(text), kLongestPath);
  return CgroupPath(std::move(text));
}

Result<CgroupPath> CgroupPath::child(std::string_view name) const {
  const auto problem = component_problem(name);
  if (!problem.empty()) return fail(0, "cgroup name '{}' {}", escaped(name), problem);
  std::string text;
  text.reserve((is_root() ? 0 : text_->size()) + 1 + name.size());
  if (!is_root()) text = *text_;
  text += '/';
  text += name;
  return of_components(std::move(text));
}

const std::string& CgroupPath::str() const {
  static const std::string kRoot = "/";
  return is_root() ? kRoot : *text_;
}

CgroupPath CgroupPath::parent() const {
  const auto& text = str();
  const auto slash = last_of(text, '/');
  return slash == 0 ? CgroupPath() : CgroupPath(text.substr(0, slash));
}

std::string_view CgroupPath::name() const {
  const std::string_view text = str();
  return text.substr(last_of(text, '/') + 1);
}

bool CgroupPath::within(const CgroupPath& above) const {
  if (above.is_root() || *this == above) return true;
  const auto& text = str();
  const auto& prefix = above.str();
  return text.size() > prefix.size() && text.starts_with(prefix) && text[prefix.size()] == '/';
}

std::string CgroupPath::relative() const { return is_root() ? "." : text_->substr(1); }

namespace {

/// Value: one of the names that are kept, and those that came before it.
struct KeptName {
  std::string text;
  const KeptName* before;
};

/// The one text of this name, nullptr for "". Threads may ask at once.
const std::string* shared_text(std::string_view text) {
  static std::atomic<const KeptName*> last = nullptr;
  if (text.empty()) return nullptr;
  std::unique_ptr<KeptName> fresh;
  for (const auto* known = last.load();;) {
    for (const auto* name = known; name != nullptr; name = name->before)
      if (name->text == text) return &name->text;
    if (!fresh) fresh = std::make_unique<KeptName>(KeptName{std::string(text), nullptr});
    fresh->before = known;
    if (last.compare_exchange_strong(known, fresh.get())) return &fresh.release()->text;
  }
}

}  // namespace

HierarchyName::HierarchyName(std::string_view text) : text_(shared_text(text)) {}
HierarchyName::HierarchyName(const std::string& text) : text_(shared_text(text)) {}
HierarchyName::HierarchyName(const char* text) : text_(shared_text(text)) {}

const std::string& HierarchyName::str() const {
  static const std::string kNone;
  return text_ == nullptr ? kNone : *text_;
}

}  // namespace kcg
