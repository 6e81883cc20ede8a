// SPDX-License-Identifier: Apache-2.0
//
// Reaches the bus without keeping the loop waiting (L9). The library waits until the bus has
// answered the first call, and a bus that is stopped does not: so that is done in a thread, which
// ends with it and touches nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "daemon/bus/compat.hpp"
#include "daemon/loop.hpp"

namespace kcg::bus {

/// Resource: one attempt. When it is dropped before the bus has answered, the answer is dropped
/// too.
class Connector final {
 public:
  using Connected = std::function<void(Result<std::unique_ptr<sdbus::IConnection>>)>;

  /// `done` is called from the loop, once; it may drop the connector.
  [[nodiscard]] static Result<std::unique_ptr<Connector>> start(Loop& loop,
                                                                const std::string& address,
                                                                Connected done);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector() = default;

 private:
  struct Attempt;
  explicit Connector(std::shared_ptr<Attempt> attempt) : attempt_(std::move(attempt)) {}

  std::shared_ptr<Attempt> attempt_;  ///< shared with the thread
  Source answered_;
};

}  // namespace kcg::bus
