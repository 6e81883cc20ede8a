// SPDX-License-Identifier: Apache-2.0
//
// Whether a sandbox's memory comes near its limit (L3, pure): told before something is killed.
#pragma once

#include <cstdint>
#include <optional>

#include "model/usage.hpp"

namespace kcg {

/// Value: near after two measurements in a row above 95 % of the limit, until one is below 90 %.
class NearLimitTrack final {
 public:
  /// Whether files in `used` matter: without so much use it is not near, whatever they are.
  [[nodiscard]] static bool matters(std::uint64_t used, const MemoryCeiling& limit);

  /// One measurement. `kept`: use without files; nullopt: not known, and nothing follows. Without a
  /// limit nothing is near.
  void note(std::optional<std::uint64_t> kept, const std::optional<MemoryCeiling>& limit);
  [[nodiscard]] std::optional<NearLimit> now() const { return near_ ? last_ : std::nullopt; }

 private:
  std::optional<NearLimit> last_;  ///< since it was last below 90 %
  bool above_ = false;             ///< the last one was above 95 %
  bool near_ = false;
};

}  // namespace kcg
