// SPDX-License-Identifier: Apache-2.0
//
// One sandbox on the bus (L9): the Sandbox interface on top of its last published view.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/bus/context.hpp"
#include "model/view.hpp"
#include "sandbox_adaptor.h"

namespace kcg::bus {

/// Resource: registered on the bus as long as it lives.
class SandboxObject final
    : public sdbus::AdaptorInterfaces<io::katacontainers::CgroupManager1::Sandbox_adaptor> {
 public:
  SandboxObject(sdbus::IConnection& connection, Context& context, const SandboxView& view);
  ~SandboxObject();
  SandboxObject(const SandboxObject&) = delete;
  SandboxObject& operator=(const SandboxObject&) = delete;

  [[nodiscard]] const SandboxView& view() const { return view_; }
  /// Another number whenever the view is another one.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  /// Takes the new view and tells whoever listens what is different.
  void update(const SandboxView& after);
  [[nodiscard]] sdbus::Signal scratch() { return scratch_message(getObject()); }
  void announce();  ///< InterfacesAdded
  void retract();   ///< InterfacesRemoved

 private:
  template <class T>
  [[nodiscard]] T published(const char* name) const;
  template <class T>
  [[nodiscard]] T fresh(const char* name);
  [[nodiscard]] Measured measured() const;

  void Reconcile(sdbus::Result<std::uint32_t>&& result, bool adopt) override;
  void Plan(sdbus::Result<std::string>&& result) override;
  void Explain(sdbus::Result<std::string>&& result) override;
  std::map<std::string, sdbus::Variant> GetStats() override;

  std::string Id() override;
  std::string PodNamespace() override;
  std::string PodName() override;
  std::string PodUid() override;
  std::string RuntimeHandler() override;
  std::string Engine() override;
  std::string Layout() override;
  std::string LayoutSource() override;
  std::string Driver() override;
  std::string State() override;
  std::string PodCgroup() override;
  std::map<std::string, std::string> PodLimits() override;
  std::string SandboxCgroup() override;
  std::string OverheadCgroup() override;
  std::string Hypervisor() override;
  std::uint32_t ShimPid() override;
  std::uint32_t VmmPid() override;
  std::uint32_t VcpuCount() override;
  std::uint64_t Created() override;
  std::uint64_t MemoryOverhead() override;
  std::string MemoryOverheadSource() override;
  std::uint32_t CpuOverheadMilli() override;
  std::uint64_t MemoryCurrent() override;
  std::uint64_t MemoryLimit() override;
  std::uint64_t MemoryOverheadUsed() override;
  std::uint64_t MemoryOverheadPeak() override;
  std::uint64_t CpuUsedMilli() override;
  std::map<std::string, std::string> Limits() override;
  std::vector<std::map<std::string, sdbus::Variant>> Threads() override;
  std::vector<std::map<std::string, sdbus::Variant>> Groups() override;
  std::vector<std::map<std::string, sdbus::Variant>> Containers() override;
  std::map<std::string, sdbus::Variant> PodOverhead() override;
  std::map<std::string, sdbus::Variant> PodRequests() override;
  std::map<std::string, std::string> PodLabels() override;
  std::vector<std::map<std::string, sdbus::Variant>> Conditions() override;

  Context& context_;
  std::uint64_t revision_;
  SandboxView view_;  ///< without threads and groups' usage: those are read when asked for
};

/// The sandboxes of one connection, by full id.
using SandboxObjects = std::map<std::string, std::unique_ptr<SandboxObject>>;

}  // namespace kcg::bus
