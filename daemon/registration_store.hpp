// SPDX-License-Identifier: Apache-2.0
//
// What callers registered, across restarts (L9): one small file each, written by rename, so that
// the cost of one does not grow with the others. What was written can be read back, whatever it
// holds; what cannot be read is set aside and never stops a start.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "model/bundle.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: the directory <run>/kata-cgroupd/registrations.
class RegistrationStore final {
 public:
  /// Of one registration as it is saved. Kubernetes allows a pod 256 KiB of annotations.
  static constexpr std::size_t kLargest = std::size_t{256} << 10;

  explicit RegistrationStore(std::string boot_id) : boot_id_(std::move(boot_id)) {}

  /// Everything that was saved on this boot. `run` is the daemon's directory; what is wrong in it
  /// is told in `notes`.
  [[nodiscard]] std::map<SandboxId, Registration> load(const Dir& run,
                                                       std::vector<std::string>& notes);
  /// ManagerError::limit_reached: larger than kLargest.
  [[nodiscard]] Status save(const SandboxId& id, const Registration& registration) const;
  [[nodiscard]] Status remove(const SandboxId& id) const;

 private:
  [[nodiscard]] Status open(const Dir& run, std::vector<std::string>& notes);
  [[nodiscard]] std::optional<Registration> read(const std::string& file,
                                                 std::vector<std::string>& notes) const;
  void take_over(const Dir& run, std::map<SandboxId, Registration>& found,
                 std::vector<std::string>& notes) const;

  std::string boot_id_;
  std::optional<Dir> dir_;
};

/// Puts a file (or whatever has its name) out of the way, under a name that is never read.
void set_aside(const Dir& dir, const std::string& file, const std::string& why,
               std::vector<std::string>& notes);

}  // namespace kcg
