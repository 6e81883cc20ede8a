// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

#include <array>
#include <utility>

namespace kcg {

namespace {

constexpr std::array<std::string_view, 4> kStates = {"working", "fallback", "down", "off"};

}  // namespace

std::string_view name(PartState state) { return kStates.at(static_cast<std::size_t>(state)); }

TellHealth Health::part(const std::string& name) {
  parts_.insert(name);
  return [this, name](const std::string& problem) { tell(name, problem); };
}

void Health::link(const std::string& name, std::function<PartState()> state) {
  links_.insert_or_assign(name, std::move(state));
}

std::map<std::string, PartState> Health::parts() const {
  std::map<std::string, PartState> all;
  for (const auto& name : parts_)
    all[name] = problems_.contains(name) ? PartState::fallback : PartState::working;
  for (const auto& [name, state] : links_) all[name] = state();
  return all;
}

std::vector<std::string> Health::problems() const {
  std::vector<std::string> all;
  all.reserve(problems_.size());
  for (const auto& [part, problem] : problems_) all.push_back(part + ": " + problem);
  return all;
}

void Health::tell(const std::string& part, const std::string& problem) {
  const auto known = problems_.find(part);
  if (problem.empty()) {
    if (known == problems_.end()) return;
    problems_.erase(known);
    said_(false, part, part + ": works again");
  } else {
    if (known != problems_.end() && known->second == problem) return;
    const bool begins = known == problems_.end();
    problems_[part] = problem;
    if (begins) said_(true, part, part + ": " + problem);
  }
  if (changed_) changed_();
}

}  // namespace kcg
