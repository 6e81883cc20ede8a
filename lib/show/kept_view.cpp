// SPDX-License-Identifier: Apache-2.0
#include "show/kept_view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kcg {

namespace {

/// Appends values, each as its bytes; of texts the length comes first.
class Packer final {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    text_.append(text);
  }
  void put(const std::map<std::string, std::string>& texts) {
    put(static_cast<std::uint32_t>(texts.size()));
    for (const auto& [key, value] : texts) {
      put(std::string_view(key));
      put(std::string_view(value));
    }
  }
  std::string take() {
    text_.shrink_to_fit();
    return std::move(text_);
  }

 private:
  std::string text_;
};

/// Takes them off again, in the same order.
class Unpacker final {
 public:
  explicit Unpacker(std::string_view text) : left_(text) {}
  [[nodiscard]] bool done() const { return left_.empty(); }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text() {
    const auto size = take<std::uint32_t>();
    const auto text = left_.substr(0, size);
    left_.remove_prefix(size);
    return text;
  }
  std::map<std::string, std::string> texts() {
    std::map<std::string, std::string> texts;
    for (auto left = take<std::uint32_t>(); left > 0; --left) {
      const auto key = text();
      texts.emplace_hint(texts.end(), key, text());
    }
    return texts;
  }

 private:
  std::string_view left_;
};

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

/// `base`: the path that most of its groups begin with.
void pack(Packer& packer, const GroupView& group, std::string_view base) {
  const auto common = common_prefix(base, group.path);
  packer.put(static_cast<std::uint32_t>(common));
  packer.put(std::string_view(group.path).substr(common));
  packer.put(group.role);
  packer.put(group.type);
  packer.put(group.exists);
  packer.put(group.memory_current.has_value());
  packer.put(group.memory_current.value_or(0));
  packer.put(static_cast<std::uint32_t>(group.hierarchies.size()));
  for (const auto& hierarchy : group.hierarchies) packer.put(std::string_view(hierarchy));
  packer.put(group.limits);
  packer.put(group.wanted);
}

GroupView unpack(Unpacker& packed, std::string_view base) {
  GroupView group;
  group.path = base.substr(0, packed.take<std::uint32_t>());
  group.path += packed.text();
  group.role = packed.take<GroupRole>();
  group.type = packed.take<GroupType>();
  group.exists = packed.take<bool>();
  const bool charged = packed.take<bool>();
  const auto memory = packed.take<std::uint64_t>();
  if (charged) group.memory_current = memory;
  for (auto left = packed.take<std::uint32_t>(); left > 0; --left)
    group.hierarchies.emplace_back(packed.text());
  group.limits = packed.texts();
  group.wanted = packed.texts();
  return group;
}

}  // namespace

KeptView::KeptView(SandboxView view) : head_(std::move(view)) {
  Packer packer;
  for (const auto& group : std::exchange(head_.groups, {}))
    pack(packer, group, head_.sandbox_cgroup);
  groups_ = packer.take();
}

SandboxView KeptView::whole() const {
  auto view = head_;
  for (Unpacker packed(groups_); !packed.done();)
    view.groups.push_back(unpack(packed, head_.sandbox_cgroup));
  return view;
}

void KeptView::set_condition(SandboxState state, std::vector<ActiveCondition> conditions) {
  head_.state = state;
  head_.conditions = std::move(conditions);
}

}  // namespace kcg
