// SPDX-License-Identifier: Apache-2.0
#include "model/ids.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <unordered_map>

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

/// A text like this that this thread has already; else a new one. Those that nobody has any more
/// are forgotten before the table doubles.
std::shared_ptr<const std::string> shared_id(std::string_view text) {
  thread_local std::unordered_map<std::size_t, std::weak_ptr<const std::string>> known;
  thread_local std::size_t most = 64;
  auto& one = known[std::hash<std::string_view>()(text)];
  auto shared = one.lock();
  if (shared && *shared == text) return shared;
  one = shared = std::make_shared<const std::string>(text);
  if (known.size() > most) {
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    most = std::max<std::size_t>(64, 2 * known.size());
  }
  return shared;
}

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
  return SandboxId(shared_id(text));
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
  return CgroupPath().joined(text.substr(1));
}

Result<CgroupPath> CgroupPath::joined(std::string_view below) const {
  const auto length = length_ + 1 + below.size();
  if (length > kLongestPath)
    return fail(0, "cgroup path '{}/{}': longer than {} bytes", escaped(text()), escaped(below),
                kLongestPath);
  auto whole = std::make_shared_for_overwrite<char[]>(length);
  auto* const slash = std::copy_n(text_.get(), length_, whole.get());
  *slash = '/';
  std::copy(below.begin(), below.end(), slash + 1);
  return CgroupPath(std::move(whole), length);
}

Result<CgroupPath> CgroupPath::child(std::string_view name) const {
  const auto problem = component_problem(name);
  if (!problem.empty()) return fail(0, "cgroup name '{}' {}", escaped(name), problem);
  return joined(name);
}

CgroupPath CgroupPath::parent() const {
  const auto slash = last_of(str(), '/');
  return slash == 0 ? CgroupPath() : CgroupPath(text_, slash);
}

std::string_view CgroupPath::name() const {
  const auto text = str();
  return text.substr(last_of(text, '/') + 1);
}

std::strong_ordering CgroupPath::operator<=>(const CgroupPath& other) const {
  if (length_ == other.length_ && text_ == other.text_) return std::strong_ordering::equal;
  return text() <=> other.text();
}

bool CgroupPath::within(const CgroupPath& above) const {
  if (above.is_root() || *this == above) return true;
  const auto text = str();
  const auto prefix = above.str();
  return text.size() > prefix.size() && text.starts_with(prefix) && text[prefix.size()] == '/';
}

std::string CgroupPath::relative() const { return std::string(is_root() ? "." : text().substr(1)); }

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
