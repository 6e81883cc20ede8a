// SPDX-License-Identifier: Apache-2.0
//
// Gathers: each fact by itself, so that what cannot be looked at hides nothing else.
#include "tools/cgctl/doctor/facts.hpp"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "cgroup/host.hpp"
#include "daemon/bus/names.hpp"
#include "model/errnos.hpp"
#include "proc/connector.hpp"
#include "proc/own_namespaces.hpp"
#include "tools/cgctl/bus_names.hpp"
#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/source.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr const char* kKubelet = "/var/lib/kubelet/config.yaml";
constexpr const char* kKvmDebugfs = "/sys/kernel/debug/kvm";
constexpr const char* kSystemd = "org.freedesktop.systemd1";
constexpr std::chrono::milliseconds kPatience{1000};

Result<std::string> read_proc(const std::string& path) {
  const auto dir = Dir::open("/proc");
  if (!dir) return forward(dir.error());
  return dir->read_kernel(path);
}

Result<std::uint64_t> proc_number(const char* path) {
  const auto text = read_proc(path);
  if (!text) return forward(text.error());
  const auto number = parse_u64(trim(*text));
  if (!number) return fail(EINVAL, "/proc/{}: '{}' is not a number", path, escaped(*text));
  return *number;
}

Result<RunSpace> run_space(const std::string& run_root) {
  const auto directory = run_root + "/run";
  struct statvfs facts{};
  if (::statvfs(directory.c_str(), &facts) != 0) {
    const int code = errno;
    return fail(code, "{}: {}", directory, errno_text(code));
  }
  return RunSpace{directory, facts.f_bavail * facts.f_frsize, facts.f_favail};
}

Status kvm_debugfs() {
  const auto dir = Dir::open(kKvmDebugfs);
  if (!dir) return forward(dir.error());
  const auto entries = dir->list();
  if (!entries) return forward(entries.error(), kKvmDebugfs);
  return {};
}

/// Configurations are asked for their first existing file, as the daemon does.
Result<std::optional<KataFile>> kata_file(const Config& config) {
  for (const auto& path : config.discovery.kata_config) {
    const auto text = read_path(path);
    if (!text && errnos::no_file(text.error().code)) continue;
    if (!text) return forward(text.error());
    return KataFile{path, parse_kata_config(*text)};
  }
  return std::optional<KataFile>();
}

/// One key of a flat YAML file: no reader of YAML is needed for it.
Result<std::string> kubelet_driver() {
  const auto text = read_path(kKubelet);
  if (!text && errnos::no_file(text.error().code)) return "";
  if (!text) return forward(text.error());
  constexpr std::string_view kKey = "cgroupDriver:";
  for (const auto line : lines(*text))
    if (line.starts_with(kKey)) {
      auto value = trim(line.substr(kKey.size()));
      while (!value.empty() && (value.front() == '"' || value.front() == '\''))
        value = value.substr(1, value.size() - 2);
      return std::string(value);
    }
  return "";
}

Status on_bus(const std::string& address, const char* name) {
  const auto owned = name_has_owner(address, name);
  if (!owned) return forward(owned.error());
  if (!*owned) return fail(0, "nobody owns {} on the bus '{}'", name, address);
  return {};
}

void ask_daemon(const Options& options, Facts& facts) {
  facts.daemon.asked = !options.no_daemon;
  std::unique_ptr<Source> source;
  if (facts.daemon.asked) {
    if (const auto reached = name_has_owner(options.bus, bus::kBusName); !reached)
      facts.bus = forward(reached.error());
    auto daemon = BusSource::connect(options.bus);
    if (daemon) {
      facts.daemon = (*daemon)->state();
      source = std::move(*daemon);
    } else {
      facts.daemon.why_not = daemon.error().text;
    }
  }
  if (!source) source = make_node_source(options);
  facts.sandboxes = source->list(false);
}

std::string kernel_release() {
  utsname system{};
  (void)::uname(&system);  // ignored: cannot fail with a valid buffer
  return system.release;
}

}  // namespace

Facts gather(const Options& options) {
  Facts facts;
  facts.root = ::geteuid() == 0;
  facts.kernel = kernel_release();
  facts.namespaces = own_namespaces();
  facts.config = node_config(options);
  const auto& config = config_or_default(facts);
  facts.host = discover_host(config.cgroup);
  facts.libcgroup = libcgroup_mounts();
  facts.pressure = read_proc("pressure/cpu");
  facts.kvm_debugfs = kvm_debugfs();
  facts.inotify_watches = proc_number("sys/fs/inotify/max_user_watches");
  facts.inotify_instances = proc_number("sys/fs/inotify/max_user_instances");
  facts.run = run_space(config.run_root);
  ask_daemon(options, facts);
  if (!facts.daemon.running) facts.process_events = probe_connector(kPatience);
  if (config.systemd_address != "none") facts.systemd = on_bus(config.systemd_address, kSystemd);
  facts.kubelet_driver = kubelet_driver();
  facts.kata = kata_file(config);
  facts.containerd = containerd_runtimes();
  facts.crio = crio_words();
  facts.named = named_kata_files(facts.containerd.value_or(std::vector<HandedOn>()),
                                 facts.crio.value_or(CrioConfigWords()));
  return facts;
}

const Config& config_or_default(const Facts& facts) {
  static const Config kDefault;
  return facts.config ? *facts.config : kDefault;
}

}  // namespace kcg::cgctl::doctor
