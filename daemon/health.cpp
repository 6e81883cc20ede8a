// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

namespace kcg {

TellHealth Health::part(const std::string& name) {
  return [this, name](const std::string& problem) { tell(name, problem); };
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
