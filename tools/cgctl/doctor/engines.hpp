// SPDX-License-Identifier: Apache-2.0
//
// `doctor`: what the container engines' own files say of Kata, and what they hand to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/containerd_config.hpp"
#include "config/crio_config.hpp"
#include "config/kata_config.hpp"

namespace kcg::cgctl::doctor {

/// Value: a runtime of Kata's in containerd's configuration.
struct HandedOn {
  std::string path;
  ContainerdRuntime runtime;
};

/// Value: a file of Kata's that an engine names for one of its runtimes.
struct NamedKataFile {
  std::string engine;   ///< "containerd", "CRI-O"
  std::string runtime;  ///< "kata-qemu"
  std::string path;
  std::optional<KataConfigWord> only;  ///< its sandbox_cgroup_only
};

/// Empty where containerd has no configuration here.
[[nodiscard]] Result<std::vector<HandedOn>> containerd_runtimes();
/// crio.conf with its drop-ins, of which the last word counts; empty where there are none.
[[nodiscard]] Result<CrioConfigWords> crio_words();
/// Those that can be read: an engine whose runtime's file is missing starts no pod with it.
[[nodiscard]] std::vector<NamedKataFile> named_kata_files(const std::vector<HandedOn>& containerd,
                                                          const CrioConfigWords& crio);

}  // namespace kcg::cgctl::doctor
