// SPDX-License-Identifier: Apache-2.0
//
// Signals are the loop's: a thread beside it takes none (L0).
#pragma once

#include <signal.h>

namespace kcg {

/// Resource: a thread that is started meanwhile has all signals blocked.
class AllSignalsBlocked final {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);  // ignored: cannot fail with a valid set
  }
  ~AllSignalsBlocked() {
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // ignored: likewise
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace kcg
