// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/bus_source.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/fd.hpp"
#include "daemon/bus/compat.hpp"
#include "daemon/bus/convert.hpp"
#include "daemon/bus/names.hpp"
#include "manager_proxy.h"
#include "show/history_documents.hpp"
#include "tools/cgctl/bus_names.hpp"
#include "tools/cgctl/failure.hpp"

namespace kcg::cgctl {

namespace {

using bus::Properties;
using bus::PropertiesList;

/// A daemon that works at all answers a question about itself at once.
constexpr std::chrono::seconds kPatienceForFacts{3};
/// A plan of a big node takes a while; a daemon that is stuck must not keep us for ever.
constexpr std::chrono::seconds kPatience{20};
/// Reconcile answers when the work is done, which may wait for systemd.
constexpr std::chrono::minutes kPatienceForWork{10};

/// The library's exceptions end here.
template <class Act>
auto guarded(Act&& act) -> Result<decltype(act())> {
  try {
    if constexpr (std::is_void_v<decltype(act())>) {
      std::forward<Act>(act)();
      return {};
    } else {
      return std::forward<Act>(act)();
    }
  } catch (const sdbus::Error& error) {
    return tl::unexpected<Error>(error_from_bus(std::string(error.getName()), error.getMessage()));
  }
}

tl::unexpected<Error> unreachable(const std::string& text) {
  return fail(static_cast<int>(ClientError::not_reachable), "{}", text);
}

std::string fact(const Properties& facts, const char* key) {
  const auto it = facts.find(key);
  return it == facts.end() ? "" : it->second.get<std::string>();
}

/// Blocks for the connection's patience.
Properties read_facts(sdbus::IProxy& proxy) {
  Properties facts;
  proxy.callMethod("GetAll")
      .onInterface("org.freedesktop.DBus.Properties")
      .withArguments(std::string(bus::kManagerInterface))
      .storeResultsTo(facts);
  return facts;
}

std::optional<PlacementTimes> placements_from(const Properties& facts) {
  const auto it = facts.find("PlacementTimes");
  if (it == facts.end()) return std::nullopt;
  auto times = it->second.get<std::map<std::string, std::uint64_t>>();
  PlacementTimes out{times["Count"], times["P50Usec"], times["P99Usec"], times["SumUsec"]};
  if (const auto buckets = facts.find("PlacementBuckets"); buckets != facts.end())
    out.within = buckets->second.get<std::map<std::uint64_t, std::uint64_t>>();
  return out;
}

/// A daemon of an older version says less of itself.
DaemonState state_from(const Properties& facts) {
  DaemonState state;
  state.running = true;
  state.version = fact(facts, "Version");
  state.mode = fact(facts, "Mode");
  state.hierarchy = fact(facts, "Hierarchy");
  if (const auto it = facts.find("Problems"); it != facts.end())
    state.problems = it->second.get<std::vector<std::string>>();
  if (const auto it = facts.find("Parts"); it != facts.end())
    state.parts = it->second.get<std::map<std::string, std::string>>();
  state.parts.emplace("bus", "working");  // or nobody had answered
  state.placements = placements_from(facts);
  if (const auto it = facts.find("ConditionsRaised"); it != facts.end())
    state.raised = it->second.get<std::map<std::string, std::uint64_t>>();
  return state;
}

std::optional<DaemonProcess> process_of_owner(sdbus::IConnection& connection) {
  const auto proxy = bus::make_proxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
  std::uint32_t pid = 0;
  proxy->callMethod("GetConnectionUnixProcessID")
      .onInterface("org.freedesktop.DBus")
      .withArguments(std::string(bus::kBusName))
      .storeResultsTo(pid);
  return daemon_process(static_cast<Pid>(pid));
}

Result<sdbus::UnixFd> pidfd_of(Pid pid) {
  const Fd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (const int error = errno; !fd)
    return fail(error, "process {}: pidfd_open: {}", pid, errno_text(error));
  return sdbus::UnixFd(fd.get());
}

template <class T>
void put(Properties& to, const char* key, const std::optional<T>& value) {
  if (value) to[key] = sdbus::Variant(*value);
}

Status put_pidfd(Properties& to, const char* key, std::optional<Pid> pid) {
  if (!pid) return {};
  const auto fd = pidfd_of(*pid);
  if (!fd) return forward(fd.error());
  to[key] = sdbus::Variant(*fd);
  return {};
}

sdbus::Variant containers_value(const std::vector<ContainerOption>& containers) {
  std::vector<sdbus::Struct<std::string, Properties>> list;
  for (const auto& one : containers) {
    Properties limits;
    put(limits, "MemoryLimit", one.memory);
    put(limits, "CpuQuota", one.cpu_quota);
    put(limits, "CpuPeriod", one.cpu_period);
    put(limits, "CpuShares", one.cpu_shares);
    if (!one.cpus.empty()) limits["Cpus"] = sdbus::Variant(one.cpus);
    if (!one.mems.empty()) limits["Mems"] = sdbus::Variant(one.mems);
    list.emplace_back(one.id, limits);
  }
  return sdbus::Variant(list);
}

Result<Properties> registration(const RegisterOptions& options) {
  Properties out;
  put(out, "CgroupsPath", options.cgroups_path);
  put(out, "RuntimeHandler", options.handler);
  put(out, "PodNamespace", options.pod_namespace);
  put(out, "PodName", options.pod_name);
  put(out, "PodUid", options.pod_uid);
  put(out, "MemoryOverhead", options.memory_overhead);
  put(out, "CpuOverheadMilli", options.cpu_overhead_milli);
  put(out, "SandboxCgroupOnly", options.sandbox_cgroup_only);
  std::map<std::string, std::string> annotations;
  for (const auto& [key, value] : options.annotations) annotations[key] = value;
  if (!annotations.empty()) out["Annotations"] = sdbus::Variant(annotations);
  if (!options.containers.empty()) out["Containers"] = containers_value(options.containers);
  if (auto status = put_pidfd(out, "ShimPidFd", options.shim_pid); !status)
    return forward(status.error());
  if (auto status = put_pidfd(out, "VmmPidFd", options.vmm_pid); !status)
    return forward(status.error());
  return out;
}

}  // namespace

struct BusSource::Impl {
  /// The generated calls; signals are of no interest here.
  class ManagerProxy final : public io::katacontainers::CgroupManager1::Manager_proxy {
   public:
    explicit ManagerProxy(sdbus::IProxy& proxy) : Manager_proxy(proxy) {}
    ~ManagerProxy() = default;

   private:
    void onSandboxAdded(const std::string&, const sdbus::ObjectPath&) override {}
    void onSandboxRemoved(const std::string&, const sdbus::ObjectPath&) override {}
    void onSandboxStateChanged(const std::string&, const std::string&,
                               const std::string&) override {}
    void onConditionChanged(const std::string&, const std::string&, const std::string&, const bool&,
                            const std::string&) override {}
    void onEventAdded(const std::string&, const std::string&) override {}
  };

  std::unique_ptr<sdbus::IConnection> connection;
  std::unique_ptr<sdbus::IProxy> proxy;
  ManagerProxy manager;
  DaemonState state;

  explicit Impl(std::unique_ptr<sdbus::IConnection> to)
      : connection(std::move(to)),
        proxy(bus::make_proxy(*connection, bus::kBusName, bus::kRootPath)),
        manager(*proxy) {
    look();
  }
  /// Throws sdbus::Error when the daemon does not answer.
  void look() {
    connection->setMethodCallTimeout(kPatienceForFacts);
    state = state_from(read_facts(*proxy));
    state.process = process_of_owner(*connection);
    connection->setMethodCallTimeout(kPatience);
  }
};

BusSource::BusSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BusSource::~BusSource() = default;

Result<std::unique_ptr<BusSource>> BusSource::connect(const std::string& address) {
  try {
    auto connection = bus::connect(address);
    if (!name_has_owner(*connection, bus::kBusName))
      return unreachable(std::string("nobody owns ") + bus::kBusName + " on the bus '" + address +
                         "': is kata-cgroupd running?");
    return std::unique_ptr<BusSource>(new BusSource(std::make_unique<Impl>(std::move(connection))));
  } catch (const sdbus::Error& error) {
    const std::string name(error.getName());
    if (name.ends_with(".NoReply") || name.ends_with(".Timeout"))
      return unreachable(fmt::format("kata-cgroupd does not answer within {} s: is it stuck?",
                                     kPatienceForFacts.count()));
    const char* hint = name.ends_with(".ENOTCONN")
                           ? "; dbus-daemon hangs up on a user that it cannot look up, as those "
                             "of DynamicUser="
                           : "";
    return unreachable("bus '" + address + "': " + error.getMessage() + hint);
  }
}

Result<std::vector<SandboxView>> BusSource::list(bool ignored) {
  std::vector<SandboxView> views;
  const auto take = [&views](const Properties& properties) -> Status {
    auto view = bus::view_from(properties);
    if (!view) return forward(view.error());
    views.push_back(*std::move(view));
    return {};
  };
  const auto listed = guarded([&] { return impl_->manager.ListSandboxes(); });
  if (!listed) return forward(listed.error());
  for (const auto& one : *listed)
    if (auto status = take(one.get<2>()); !status) return forward(status.error());
  if (!ignored) return views;
  const auto bundles = guarded([&] { return impl_->manager.ListIgnored(); });
  if (!bundles) return forward(bundles.error());
  for (const auto& one : *bundles)
    if (auto status = take(one.get<1>()); !status) return forward(status.error());
  return views;
}

Result<SandboxView> BusSource::view(const std::string& id) {
  const auto properties = guarded([&] {
    const auto path = impl_->manager.GetSandbox(id);
    const auto object = bus::make_proxy(*impl_->connection, bus::kBusName, path);
    Properties all;
    object->callMethod("GetAll")
        .onInterface("org.freedesktop.DBus.Properties")
        .withArguments(std::string(bus::kSandboxInterface))
        .storeResultsTo(all);
    return all;
  });
  if (!properties) return forward(properties.error());
  return bus::view_from(*properties);
}

Result<std::map<std::string, SandboxUsage>> BusSource::usage() {
  return guarded([&] {
    std::map<std::string, SandboxUsage> all;
    for (const auto& one : impl_->manager.GetStats())
      all[one.get<0>()] = bus::numbers_from(one.get<1>());
    return all;
  });
}

/// The daemon places a new thread within milliseconds, under load within a second.
void BusSource::wait_for_repairs() { std::this_thread::sleep_for(std::chrono::seconds(1)); }

Result<std::string> BusSource::plan(const std::string& id) {
  return guarded([&] { return impl_->manager.Plan(id); });
}

Result<std::string> BusSource::explain(const std::string& id) {
  return guarded([&] { return impl_->manager.Explain(id); });
}

Result<std::string> BusSource::recommend(const std::string& handler) {
  return guarded([&] { return impl_->manager.Recommend(handler); });
}

Result<std::vector<SandboxHistory>> BusSource::events(const std::string& id) {
  const auto document = guarded([&] { return impl_->manager.Events(id); });
  if (!document) return forward(document.error());
  return parse_history_document(*document);
}

const DaemonState& BusSource::state() const { return impl_->state; }

const DaemonState& BusSource::look_again() {
  (void)guarded([&] { impl_->look(); });  // ignored: then the last answer stays
  return impl_->state;
}

Status BusSource::reload() {
  return guarded([&] { impl_->manager.Reload(); });
}

Result<std::vector<RegisteredView>> BusSource::registrations() {
  const auto listed = guarded([&] { return impl_->manager.ListRegistrations(); });
  if (!listed) return forward(listed.error());
  std::vector<RegisteredView> views;
  for (const auto& one : *listed) {
    auto view = bus::registered_from(one.get<1>());
    if (!view) return forward(view.error());
    view->id = one.get<0>();
    views.push_back(*std::move(view));
  }
  return views;
}

Result<std::uint32_t> BusSource::reconcile(const std::string& id, bool adopt) {
  return guarded([&] {
    impl_->connection->setMethodCallTimeout(kPatienceForWork);
    return impl_->manager.Reconcile(id, adopt);
  });
}

Status BusSource::register_sandbox(const std::string& id, const RegisterOptions& options) {
  const auto properties = registration(options);
  if (!properties) return forward(properties.error());
  return guarded([&] { (void)impl_->manager.RegisterSandbox(id, *properties); });
}

Status BusSource::unregister_sandbox(const std::string& id) {
  return guarded([&] { impl_->manager.UnregisterSandbox(id); });
}

}  // namespace kcg::cgctl
