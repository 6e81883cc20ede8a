// SPDX-License-Identifier: Apache-2.0
//
// The one QMP connection of a VMM, held by its shim for the VMM's whole life, as Kata does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::standin {

/// Resource: see the head of the file.
class Qmp final {
 public:
  /// Connects and negotiates; waits for a QEMU that is still starting.
  [[nodiscard]] static Result<Qmp> connect(const std::string& socket);

  [[nodiscard]] Result<std::vector<Pid>> vcpu_threads();
  [[nodiscard]] Result<std::vector<Pid>> io_threads();
  /// Plugs the first free vCPU and returns its thread.
  [[nodiscard]] Result<Pid> plug_vcpu();
  /// Plugs memory and touches all of it.
  [[nodiscard]] Status fill_memory(std::uint64_t mib);
  /// Lets QEMU open a character device, as a source of randomness.
  [[nodiscard]] Status open_device(const std::string& path);

 private:
  explicit Qmp(Fd fd) : fd_(std::move(fd)) {}
  /// `command` is JSON; the answer's "return" as JSON text.
  [[nodiscard]] Result<std::string> execute(const std::string& command);
  /// "thread-id" of each entry of an answer.
  [[nodiscard]] Result<std::vector<Pid>> threads_of(const std::string& command);

  Fd fd_;
  std::string rest_;
  unsigned filled_ = 0;  ///< names of what fill_memory() has plugged
};

}  // namespace kcg::standin
