// SPDX-License-Identifier: Apache-2.0
//
// Child processes with pipes: commands that are run to their end, and servers that are spoken to.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace kcg::integration {

/// Reached only when something is broken.
inline constexpr std::chrono::seconds kPatience{20};

/// Value: how a command ended.
struct Ended {
  int status = -1;  ///< exit status; 128 + signal; -1: it did not end in time and was killed
  std::string out;
  std::string err;
};

/// Runs a command to its end. `uid`: as this user, without privileges.
[[nodiscard]] Ended run(const std::vector<std::string>& argv,
                        std::optional<uid_t> uid = std::nullopt);

/// Resource: a running process that reads lines from us and writes lines to us; killed at the end.
class Server final {
 public:
  explicit Server(const std::vector<std::string>& argv, std::optional<uid_t> uid = std::nullopt);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void say(const std::string& line);
  /// The next line that contains `part`; lines before it are kept for later. nullopt: none came, or
  /// the process ended.
  [[nodiscard]] std::optional<std::string> expect(const std::string& part);
  /// All lines so far that contain `part`.
  [[nodiscard]] std::size_t count(const std::string& part) const;
  [[nodiscard]] bool running();
  /// Exit status once it ended by itself; -1 if it does not.
  [[nodiscard]] int wait();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[nodiscard]] bool read_more(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  Fd in_, out_, pidfd_;
  std::string rest_;
  std::vector<std::string> seen_;
  std::size_t next_ = 0;
};

}  // namespace kcg::integration
