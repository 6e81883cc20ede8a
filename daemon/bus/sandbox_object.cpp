// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/sandbox_object.hpp"

#include <utility>

#include "daemon/bus/convert.hpp"
#include "daemon/bus/convert_parts.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/names.hpp"
#include "daemon/bus/node_calls.hpp"
#include "daemon/bus/privileged.hpp"

namespace kcg::bus {

SandboxObject::SandboxObject(sdbus::IConnection& connection, Context& context,
                             const SandboxView& view)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(sandbox_path(view.id))),
      context_(context),
      revision_(++context.revisions),
      view_(view) {
  registerAdaptor();
}

SandboxObject::~SandboxObject() { unregisterAdaptor(); }

void SandboxObject::announce() {
  const FreshView::Suspension quiet(context_.fresh);
  getObject().emitInterfacesAddedSignal();
}

void SandboxObject::retract() { getObject().emitInterfacesRemovedSignal(); }

void SandboxObject::update(const SandboxView& after) {
  const auto names = changed_properties(view_, after);
  view_ = after;
  revision_ = ++context_.revisions;
  if (names.empty()) return;
  const FreshView::Suspension quiet(context_.fresh);
  properties_changed(getObject(), kSandboxInterface, names);
}

template <class T>
T SandboxObject::published(const char* name) const {
  return property(view_, name).get<T>();
}

template <class T>
T SandboxObject::fresh(const char* name) {
  const SandboxView* const now = context_.fresh.of(context_.manager, view_.id);
  return now == nullptr ? T{} : property(*now, name).get<T>();
}

void SandboxObject::Reconcile(sdbus::Result<std::uint32_t>&& result, bool adopt) {
  for_root(context_, call_in_hand(getObject()), "Reconcile", std::move(result),
           [&context = context_, id = view_.id, adopt](auto& kept, auto admitted) {
             context.manager.reconcile(
                 id, adopt, context.replies->later(std::move(kept), std::move(admitted.ticket)));
           });
}

void SandboxObject::Plan(sdbus::Result<std::string>&&) {
  read_document(context_, {}, call_in_hand(getObject()), view_.id, &Manager::plan_json);
}

void SandboxObject::Explain(sdbus::Result<std::string>&&) {
  read_document(context_, {}, call_in_hand(getObject()), view_.id, &Manager::explain_json);
}

std::map<std::string, sdbus::Variant> SandboxObject::GetStats() {
  const SandboxView* const now = context_.fresh.of(context_.manager, view_.id);
  auto out = stats(now == nullptr ? view_ : *now);
  if (const auto usage = context_.manager.usage(view_.id)) out.merge(usage_properties(*usage));
  return out;
}

std::string SandboxObject::Id() { return published<std::string>("Id"); }
std::string SandboxObject::PodNamespace() { return published<std::string>("PodNamespace"); }
std::string SandboxObject::PodName() { return published<std::string>("PodName"); }
std::string SandboxObject::PodUid() { return published<std::string>("PodUid"); }
std::string SandboxObject::RuntimeHandler() { return published<std::string>("RuntimeHandler"); }
std::string SandboxObject::Engine() { return published<std::string>("Engine"); }
std::string SandboxObject::Layout() { return published<std::string>("Layout"); }
std::string SandboxObject::LayoutSource() { return published<std::string>("LayoutSource"); }
std::string SandboxObject::Driver() { return published<std::string>("Driver"); }
std::string SandboxObject::State() { return published<std::string>("State"); }
std::string SandboxObject::PodCgroup() { return published<std::string>("PodCgroup"); }
std::map<std::string, std::string> SandboxObject::PodLimits() {
  return published<std::map<std::string, std::string>>("PodLimits");
}
std::string SandboxObject::SandboxCgroup() { return published<std::string>("SandboxCgroup"); }
std::string SandboxObject::OverheadCgroup() { return published<std::string>("OverheadCgroup"); }
std::string SandboxObject::Hypervisor() { return published<std::string>("Hypervisor"); }
std::uint32_t SandboxObject::ShimPid() { return published<std::uint32_t>("ShimPid"); }
std::uint32_t SandboxObject::VmmPid() { return published<std::uint32_t>("VmmPid"); }
std::uint32_t SandboxObject::VcpuCount() { return published<std::uint32_t>("VcpuCount"); }
std::uint64_t SandboxObject::Created() { return published<std::uint64_t>("Created"); }
std::uint64_t SandboxObject::MemoryOverhead() { return published<std::uint64_t>("MemoryOverhead"); }
std::string SandboxObject::MemoryOverheadSource() {
  return published<std::string>("MemoryOverheadSource");
}
std::uint32_t SandboxObject::CpuOverheadMilli() {
  return published<std::uint32_t>("CpuOverheadMilli");
}
std::uint64_t SandboxObject::MemoryCurrent() { return published<std::uint64_t>("MemoryCurrent"); }
Measured SandboxObject::measured() const { return context_.manager.measured(view_.id); }
std::uint64_t SandboxObject::MemoryOverheadUsed() {
  return measured().overhead.used.value_or(kUnlimited);
}
std::uint64_t SandboxObject::MemoryOverheadPeak() {
  return measured().overhead.peak.value_or(kUnlimited);
}
std::uint64_t SandboxObject::CpuUsedMilli() { return measured().cpu_milli.value_or(kUnlimited); }
std::uint64_t SandboxObject::MemoryLimit() { return published<std::uint64_t>("MemoryLimit"); }
std::map<std::string, std::string> SandboxObject::Limits() {
  return published<std::map<std::string, std::string>>("Limits");
}
PropertiesList SandboxObject::Threads() { return fresh<PropertiesList>("Threads"); }
PropertiesList SandboxObject::Groups() { return fresh<PropertiesList>("Groups"); }
PropertiesList SandboxObject::Containers() { return published<PropertiesList>("Containers"); }
std::map<std::string, sdbus::Variant> SandboxObject::PodOverhead() {
  return published<Properties>("PodOverhead");
}
std::map<std::string, sdbus::Variant> SandboxObject::PodRequests() {
  return published<Properties>("PodRequests");
}
std::map<std::string, std::string> SandboxObject::PodLabels() {
  return published<std::map<std::string, std::string>>("PodLabels");
}
PropertiesList SandboxObject::Conditions() { return published<PropertiesList>("Conditions"); }

}  // namespace kcg::bus
