// SPDX-License-Identifier: Apache-2.0
//
// A message bus of our own, as the system bus is set up, with or without our policy.
#pragma once

#include <memory>
#include <string>

#include "integration/process.hpp"

namespace kcg::integration {

enum class Policy : unsigned char {
  installed,  ///< the file that is installed, on top of what systems have by default
  open,       ///< anybody may own and call anything
};

/// Resource: a dbus-daemon on a socket in a directory of its own.
class PrivateBus final {
 public:
  explicit PrivateBus(Policy policy);
  ~PrivateBus();
  PrivateBus(const PrivateBus&) = delete;
  PrivateBus& operator=(const PrivateBus&) = delete;

  [[nodiscard]] std::string address() const { return "unix:path=" + directory_ + "/bus"; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  void start();  ///< returns when it accepts connections
  void kill();
  [[nodiscard]] pid_t pid() const { return daemon_->pid(); }

 private:
  std::string directory_;
  std::unique_ptr<Server> daemon_;
};

}  // namespace kcg::integration
