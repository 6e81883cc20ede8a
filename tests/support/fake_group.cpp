// SPDX-License-Identifier: Apache-2.0
#include "support/fake_group.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"

namespace kcg::test {

namespace {

/// All names that a v2 kernel knows; one that it knows but the parent does not offer is ENOENT.
constexpr std::array<std::string_view, 9> kKnown = {
    "cpu", "cpuset", "io", "memory", "pids", "hugetlb", "perf_event", "rdma", "misc"};

bool domain_controllers(const std::set<std::string>& controllers) {
  return std::any_of(controllers.begin(), controllers.end(),
                     [](const std::string& name) { return !threaded_controller(name); });
}

bool populated_domain_child(const FakeGroup& group) {
  return std::any_of(group.children.begin(), group.children.end(), [](const auto& child) {
    return !child.second->threaded && populated(*child.second);
  });
}

int vet_enable(const FakeGroup& group, const std::set<std::string>& enable) {
  if (enable.empty()) return 0;
  if (!is_valid_domain(domain_of(group))) return EOPNOTSUPP;
  if (group.parent == nullptr) return 0;
  if (domain_controllers(enable)) {
    if (is_thread_root(group) || group.threaded) return EOPNOTSUPP;
  } else if (can_be_thread_root(group) || group.threaded) {
    return 0;
  }
  return group.tasks.empty() ? 0 : EBUSY;
}

/// A controller's files start afresh when it is enabled again.
void drop_values(FakeGroup& group, const std::string& controller) {
  for (auto& [name, child] : group.children)
    std::erase_if(child->values,
                  [&](const auto& value) { return value.first.starts_with(controller + "."); });
}

struct Change {
  std::set<std::string> enable, disable;
};

/// "+cpu -io" taken apart; nullopt: a token that the kernel would refuse.
std::optional<Change> parse_change(std::string_view text) {
  Change change;
  for (const auto word : words(text)) {
    const auto known = std::find(kKnown.begin(), kKnown.end(), word.substr(1)) != kKnown.end();
    if (!known || (word.front() != '+' && word.front() != '-')) return std::nullopt;
    const std::string controller(word.substr(1));
    auto& add = word.front() == '+' ? change.enable : change.disable;
    auto& drop = word.front() == '+' ? change.disable : change.enable;
    add.insert(controller);
    drop.erase(controller);
  }
  return change;
}

}  // namespace

std::string FakeGroup::path() const {
  if (parent == nullptr) return "/";
  return (parent->parent == nullptr ? "" : parent->path()) + "/" + name;
}

bool threaded_controller(std::string_view controller) {
  return controller == "cpu" || controller == "cpuset" || controller == "pids" ||
         controller == "perf_event";
}

std::set<std::string> controllers_of(const FakeGroup& group) {
  if (group.parent == nullptr || !group.hierarchy->unified)
    return {group.hierarchy->controllers.begin(), group.hierarchy->controllers.end()};
  auto offered = group.parent->subtree;
  if (group.threaded)
    std::erase_if(offered, [](const std::string& name) { return !threaded_controller(name); });
  return offered;
}

bool populated(const FakeGroup& group) {
  return !group.tasks.empty() ||
         std::any_of(group.children.begin(), group.children.end(),
                     [](const auto& child) { return populated(*child.second); });
}

const FakeGroup& domain_of(const FakeGroup& group) {
  return group.threaded ? domain_of(*group.parent) : group;
}

bool can_be_thread_root(const FakeGroup& group) {
  if (group.parent == nullptr) return true;
  return !group.threaded && !populated_domain_child(group) && !domain_controllers(group.subtree);
}

bool is_thread_root(const FakeGroup& group) {
  if (group.threaded) return false;
  if (std::any_of(group.children.begin(), group.children.end(),
                  [](const auto& child) { return child.second->threaded; }))
    return true;
  const bool threaded_enabled =
      std::any_of(group.subtree.begin(), group.subtree.end(), threaded_controller);
  return !group.tasks.empty() && threaded_enabled;
}

bool is_valid_domain(const FakeGroup& group) {
  if (group.threaded) return false;
  for (const FakeGroup* above = group.parent; above != nullptr; above = above->parent)
    if ((above->parent != nullptr && is_thread_root(*above)) || above->threaded) return false;
  return true;
}

std::string_view type_of(const FakeGroup& group) {
  if (group.threaded) return "threaded";
  if (!is_valid_domain(group)) return "domain invalid";
  return is_thread_root(group) ? "domain threaded" : "domain";
}

int vet_attach(const FakeGroup& from, const FakeGroup& to, bool whole_process) {
  if (!to.hierarchy->unified) return 0;
  if (!is_valid_domain(domain_of(to))) return EOPNOTSUPP;
  if (!can_be_thread_root(to) && !to.threaded && !to.subtree.empty()) return EBUSY;
  return !whole_process && &domain_of(from) != &domain_of(to) ? EOPNOTSUPP : 0;
}

int make_threaded(FakeGroup& group) {
  if (group.threaded) return 0;
  if (populated(group) || domain_controllers(group.subtree)) return EOPNOTSUPP;
  const FakeGroup& domain = domain_of(*group.parent);
  if (!is_valid_domain(domain) || !can_be_thread_root(domain)) return EOPNOTSUPP;
  group.threaded = true;
  return 0;
}

int write_subtree_control(FakeGroup& group, std::string_view text) {
  auto change = parse_change(text);
  if (!change) return EINVAL;
  const auto offered = controllers_of(group);
  for (const auto& controller : change->disable)
    for (const auto& [name, child] : group.children)
      if (group.subtree.contains(controller) && child->subtree.contains(controller)) return EBUSY;
  std::erase_if(change->enable,
                [&](const std::string& name) { return group.subtree.contains(name); });
  for (const auto& controller : change->enable)
    if (!offered.contains(controller)) return ENOENT;
  if (const int code = vet_enable(group, change->enable); code != 0) return code;
  group.subtree.insert(change->enable.begin(), change->enable.end());
  for (const auto& controller : change->disable)
    if (group.subtree.erase(controller) != 0) drop_values(group, controller);
  return 0;
}

}  // namespace kcg::test
