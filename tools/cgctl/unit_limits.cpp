// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/unit_limits.hpp"

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "daemon/bus/compat.hpp"
#include "kernel/unit_properties.hpp"

namespace kcg::cgctl {

namespace {

using Property = sdbus::Struct<std::string, sdbus::Variant>;

/// A manager that reloads takes seconds.
constexpr std::chrono::seconds kPatience{20};

Property property_of(const UnitProperty& property) {
  const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&property.value);
  return bytes != nullptr ? Property{property.name, sdbus::Variant(*bytes)}
                          : Property{property.name, sdbus::Variant(std::get<0>(property.value))};
}

class UnitLimits final : public SystemdManager {
 public:
  explicit UnitLimits(std::string address) : address_(std::move(address)) {}

  Status start_scope(const ScopeRequest& request) override {
    return fail(EOPNOTSUPP, "{}: scopes are the daemon's to make", request.unit);
  }

  Status set_limits(const std::string& unit, const std::vector<WantedFile>& limits) override {
    const auto wanted = unit_properties(limits);
    if (!wanted) return forward(wanted.error());
    if (address_ == "none")
      return fail(ENOTCONN, "{}: systemd's manager is not reached; see [systemd] address", unit);
    std::vector<Property> properties;
    for (const auto& one : *wanted) properties.push_back(property_of(one));
    try {
      if (!connection_) connect();
      bus::make_proxy(*connection_, "org.freedesktop.systemd1", "/org/freedesktop/systemd1")
          ->callMethod("SetUnitProperties")
          .onInterface("org.freedesktop.systemd1.Manager")
          .withArguments(unit, true, properties);
    } catch (const sdbus::Error& error) {
      return fail(EIO, "{}: systemd does not lift its limits: {}", unit, error.getMessage());
    }
    return {};
  }

 private:
  void connect() {
    auto connection = bus::connect(address_);
    connection->setMethodCallTimeout(kPatience);
    connection_ = std::move(connection);
  }

  std::string address_;
  std::unique_ptr<sdbus::IConnection> connection_;
};

}  // namespace

std::unique_ptr<SystemdManager> make_unit_limits(std::string address) {
  return std::make_unique<UnitLimits>(std::move(address));
}

}  // namespace kcg::cgctl
