// SPDX-License-Identifier: Apache-2.0
//
// The seam to systemd's manager (L5): scopes. Asynchronous: a started job's end arrives as a hint.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: what StartTransientUnit is asked for.
struct ScopeRequest {
  std::string unit;                ///< "kata-sandbox-<id>.scope"
  std::string slice;               ///< "kubepods-burstable-podx.slice"
  TaskKey member;                  ///< who it begins with; the others follow when it is there
  std::vector<WantedFile> limits;  ///< kernel names; the implementation maps them to properties
};

/// Interface: see the head of the file. Success means that it was sent: "pending". That it was done
/// or refused is a HintKind::job with the unit. ENOTCONN: systemd is not reached.
class SystemdManager {
 public:
  virtual ~SystemdManager() = default;
  [[nodiscard]] virtual Status start_scope(const ScopeRequest& request) = 0;
  [[nodiscard]] virtual Status set_limits(const std::string& unit,
                                          const std::vector<WantedFile>& limits) = 0;
};

}  // namespace kcg
