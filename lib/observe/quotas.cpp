// SPDX-License-Identifier: Apache-2.0
#include "observe/quotas.hpp"

#include <string>

#include "base/text.hpp"
#include "model/errnos.hpp"
#include "observe/group_files.hpp"

namespace kcg {

bool has_quota(const GroupState& group) {
  const auto quota = group.file(kQuota);
  return quota && *quota != "-1";
}

void read_quotas_again(const CgroupTree& tree, Observed& observed) {
  for (auto& [ref, group] : observed.groups) {
    if (group.mark == observed.inputs.id.str() || !has_quota(group)) continue;
    for (const auto* file : {kQuota, kPeriod}) {
      const auto now = tree.read(ref, file);
      if (now)
        group.files[file] = std::string(trim(*now));
      else if (!errnos::no_group_file(now.error().code))
        observed.unread_groups.push_back(now.error().text);
    }
  }
}

}  // namespace kcg
