// SPDX-License-Identifier: Apache-2.0
//
// Kata's own record of its sandboxes as it changes (L9).
#pragma once

#include "daemon/watch/path_watch.hpp"
#include "model/config.hpp"

namespace kcg {

/// Resource: HintKind::kata_state with the sandbox id whenever <root>/sbs/<id>/persist.json (Go) or
/// <root>/<id>/state.json (runtime-rs) appears, vanishes or is written, in any configured root;
/// HintKind::rescan after lost events.
class KataStateWatch final {
 public:
  KataStateWatch(Loop& loop, const Config::Discovery& discovery, HintSink sink, TellHealth tell);

  /// Something was mounted or unmounted.
  void recheck() { watch_.recheck(); }

 private:
  PathWatch watch_;
};

}  // namespace kcg
