// SPDX-License-Identifier: Apache-2.0
//
// A client that asks all the time: several connections, each of which always has as many calls
// outstanding as it was told.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

namespace kcg::integration {

/// Value: what is asked.
struct Question {
  std::string interface;
  std::string member;
  std::string argument;  ///< one string; "-": none
};

/// Resource: floods from a thread of its own as long as it lives.
class Flood final {
 public:
  Flood(const std::string& address, const Question& question, std::size_t connections,
        std::size_t outstanding);
  ~Flood();
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  void run(const std::string& address, const Question& question, std::size_t connections,
           std::size_t outstanding);

  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> answered_{0};
  std::atomic<std::size_t> refused_{0};
  std::thread thread_;
};

}  // namespace kcg::integration
