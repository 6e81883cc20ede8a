// SPDX-License-Identifier: Apache-2.0
//
// Kata's own record of its sandboxes as it changes (L6).
#pragma once

#include <memory>
#include <string>

#include "daemon/watch/path_watch.hpp"
#include "model/config.hpp"

namespace kcg {

/// Resource: HintKind::kata_state with the sandbox id whenever <root>/sbs/<id>/persist.json (Go) or
/// <root>/<id>/state.json (runtime-rs) appears, vanishes or is written, in any configured root;
/// HintKind::rescan after lost events.
class KataStateWatch final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<KataStateWatch>> create(
      Loop& loop, const Config::Discovery& discovery, HintSink sink);

  /// Why some are not watched, "" if all are.
  [[nodiscard]] const std::string& problem() const { return watch_->problem(); }

 private:
  KataStateWatch() = default;

  std::unique_ptr<PathWatch> watch_;
};

}  // namespace kcg
