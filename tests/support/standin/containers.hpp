// SPDX-License-Identifier: Apache-2.0
//
// The containers of a sandbox as Kata's runtime keeps them: what its state files say, and which
// CPUs they may use together.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace kcg::standin {

/// Value: one container beside the pause container.
struct Container {
  std::string id;
  std::string bundle;
  std::string annotations = "{}";  ///< JSON, as in its bundle
  std::string resources = "{}";    ///< JSON: linux.resources, with later updates
  std::string state = "ready";     ///< ready | running | stopped
};

/// From `bundle`/config.json.
[[nodiscard]] Result<Container> read_container(const std::string& id, const std::string& bundle);
/// `change`: linux.resources in JSON; as for Kata, what is zero or empty stays as it was.
[[nodiscard]] Status merge_resources(Container& container, const std::string& change);
/// `change`: cpus=LIST, quota=US or memory=BYTES.
[[nodiscard]] Status update_resources(Container& container, const std::string& change);
[[nodiscard]] Result<std::vector<Container>::iterator> find_container(
    std::vector<Container>& containers, const std::string& id);
/// The union of all cpuset lists, ascending; empty when none names CPUs.
[[nodiscard]] std::vector<int> cpus_of(const std::vector<Container>& containers);
/// "0,1,2"
[[nodiscard]] std::string cpu_list(const std::vector<int>& cpus);

}  // namespace kcg::standin
