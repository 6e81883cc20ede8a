// SPDX-License-Identifier: Apache-2.0
//
// The node on the bus (L9): the Manager interface, and the ObjectManager of all sandboxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/bus/context.hpp"
#include "daemon/bus/sandbox_object.hpp"
#include "manager_adaptor.h"

namespace kcg::bus {

/// Resource: registered on the bus as long as it lives.
class ManagerObject final
    : public sdbus::AdaptorInterfaces<io::katacontainers::CgroupManager1::Manager_adaptor,
                                      sdbus::ObjectManager_adaptor> {
 public:
  ManagerObject(sdbus::IConnection& connection, Context& context, const SandboxObjects& sandboxes);
  ~ManagerObject();
  ManagerObject(const ManagerObject&) = delete;
  ManagerObject& operator=(const ManagerObject&) = delete;

  void count_conditions(std::size_t before, std::size_t after);
  /// Sends the change signal of some of our properties.
  void tell(const std::vector<std::string>& names);
  /// The connection beneath the library.
  [[nodiscard]] sd_bus* bus() { return bus_of(getObject()); }
  [[nodiscard]] sdbus::Signal scratch() { return scratch_message(getObject()); }

 private:
  using Listed = std::vector<sdbus::Struct<std::string, sdbus::ObjectPath, Properties>>;
  using Described = std::vector<sdbus::Struct<std::string, Properties>>;

  void ListSandboxes(sdbus::Result<Listed>&& result) override;
  void ListIgnored(sdbus::Result<Described>&& result) override;
  void ListRegistrations(sdbus::Result<Described>&& result) override;
  void GetStats(sdbus::Result<Described>&& result) override;
  sdbus::ObjectPath GetSandbox(const std::string& id) override;
  void RegisterSandbox(sdbus::Result<sdbus::ObjectPath>&& result, std::string id,
                       Properties properties) override;
  void UnregisterSandbox(sdbus::Result<>&& result, std::string id) override;
  void Reconcile(sdbus::Result<std::uint32_t>&& result, std::string id, bool adopt) override;
  void Plan(sdbus::Result<std::string>&& result, std::string id) override;
  void Events(sdbus::Result<std::string>&& result, std::string id) override;
  void Recommend(sdbus::Result<std::string>&& result, std::string handler) override;
  void Explain(sdbus::Result<std::string>&& result, std::string id) override;
  void Reload(sdbus::Result<>&& result) override;

  std::string Version() override;
  std::vector<std::string> Features() override;
  std::string Mode() override;
  std::string Hierarchy() override;
  std::uint32_t SandboxCount() override;
  std::uint32_t ConditionCount() override;
  std::vector<std::string> Problems() override;
  std::map<std::string, std::string> Parts() override;
  std::map<std::string, std::uint64_t> PlacementTimes() override;
  std::map<std::uint64_t, std::uint64_t> PlacementBuckets() override;
  std::map<std::string, std::uint64_t> ConditionsRaised() override;

  Context& context_;
  const SandboxObjects& sandboxes_;
  std::size_t conditions_ = 0;
};

}  // namespace kcg::bus
