// SPDX-License-Identifier: Apache-2.0
//
// The node on the bus (L6): the Manager interface, and the ObjectManager of all sandboxes.
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

/// The sandboxes of one connection, by full id.
using SandboxObjects = std::map<std::string, std::unique_ptr<SandboxObject>>;

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

 private:
  void demand_root(const char* member);

  std::vector<sdbus::Struct<std::string, sdbus::ObjectPath, Properties>> ListSandboxes() override;
  std::vector<sdbus::Struct<std::string, Properties>> ListIgnored() override;
  sdbus::ObjectPath GetSandbox(const std::string& id) override;
  sdbus::ObjectPath RegisterSandbox(const std::string& id, const Properties& properties) override;
  void UnregisterSandbox(const std::string& id) override;
  void Reconcile(sdbus::Result<std::uint32_t>&& result, std::string id, bool adopt) override;
  std::string Plan(const std::string& id) override;
  std::string Explain(const std::string& id) override;
  void Reload() override;

  std::string Version() override;
  std::vector<std::string> Features() override;
  std::string Mode() override;
  std::string Hierarchy() override;
  std::uint32_t SandboxCount() override;
  std::uint32_t ConditionCount() override;

  Context& context_;
  const SandboxObjects& sandboxes_;
  std::size_t conditions_ = 0;
};

}  // namespace kcg::bus
