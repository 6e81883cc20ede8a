// SPDX-License-Identifier: Apache-2.0
//
// Somebody who has nothing else to do than to answer: what a call costs on this machine anyway.
#pragma once

#include <thread>

#include "base/fd.hpp"

namespace kcg::bench {

/// Resource: a thread behind a socket.
class Echo final {
 public:
  Echo();
  ~Echo();
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  /// Returns when it has answered.
  void call() const;

 private:
  Fd ours_;
  std::thread thread_;
};

}  // namespace kcg::bench
