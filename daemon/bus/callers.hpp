// SPDX-License-Identifier: Apache-2.0
//
// How many calls of one caller may wait for their answers (L9). Callers are told apart by their
// connection; the bus bounds how many of those a user may have.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace kcg::bus {

/// Resource: see the head of the file.
class Callers final : public std::enable_shared_from_this<Callers> {
 public:
  /// Of one connection: a client that asks for more before it has read is no client of ours.
  static constexpr std::size_t kEach = 16;
  /// Of all together: what the 256 connections that the system bus allows one user cannot fill.
  static constexpr std::size_t kAll = 8192;

  /// One call that waits; the last copy ends it.
  using Ticket = std::shared_ptr<void>;
  /// ManagerError::limit_reached: too many wait already.
  [[nodiscard]] Result<Ticket> enter(const std::string& caller);
  [[nodiscard]] std::size_t waiting() const { return all_; }

 private:
  void leave(const std::string& caller);

  std::map<std::string, std::size_t> each_;
  std::size_t all_ = 0;
};

}  // namespace kcg::bus
