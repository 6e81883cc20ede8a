// SPDX-License-Identifier: Apache-2.0
//
// The stand of the bus tests: a private bus, a fake daemon on it, and the clients.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/private_bus.hpp"
#include "integration/process.hpp"
#include "support/sample_views.hpp"

namespace kcg::integration {

inline constexpr uid_t kNobody = 65534;
inline constexpr const char* kService = "io.katacontainers.CgroupManager1";
inline constexpr const char* kManager = "io.katacontainers.CgroupManager1.Manager";
inline constexpr const char* kSandbox = "io.katacontainers.CgroupManager1.Sandbox";
inline constexpr const char* kRoot = "/io/katacontainers/CgroupManager1";

/// The object of the first sample; its id starts with a digit, so that is escaped.
[[nodiscard]] std::string first_object();

/// Fixture of all bus tests.
class BusStand : public testing::Test {
 protected:
  explicit BusStand(Policy policy = Policy::installed) : bus_(policy) {}
  void SetUp() override { serve(); }

  void serve();
  /// The fake daemon does something; returns when it is done.
  void command(const std::string& line);

  [[nodiscard]] Ended busctl(std::vector<std::string> arguments,
                             std::optional<uid_t> uid = std::nullopt) const;
  /// Calls a method of the manager.
  [[nodiscard]] Ended call(std::vector<std::string> member_and_arguments,
                           std::optional<uid_t> uid = std::nullopt) const;
  [[nodiscard]] Ended cgctl(std::vector<std::string> arguments,
                            std::optional<uid_t> uid = std::nullopt) const;
  /// One of the texts of print-documents.
  [[nodiscard]] static std::string printed(const std::string& document);

  PrivateBus bus_;
  std::unique_ptr<Server> daemon_;
};

}  // namespace kcg::integration
