// SPDX-License-Identifier: Apache-2.0
#include "daemon/app.hpp"

#include <systemd/sd-daemon.h>

#include <csignal>
#include <memory>

#include "base/clock.hpp"
#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "cgroup/libcgroup_view.hpp"
#include "daemon/bus/service.hpp"
#include "daemon/loop.hpp"
#include "daemon/reconciler.hpp"
#include "daemon/systemd/scopes.hpp"
#include "daemon/watches.hpp"
#include "observe/kata_config.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg {

namespace {

/// Signals are events of the loop, never interruptions.
void block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  (void)sigprocmask(SIG_BLOCK, &set, nullptr);  // ignored: cannot fail with a valid set
  (void)std::signal(SIGPIPE, SIG_IGN);          // ignored: likewise
}

/// Value: the signals that the loop answers.
struct Signals {
  Source terminate, interrupt, reload;
};

Result<Signals> answer_signals(Loop& loop, Reconciler& reconciler, const Log& log) {
  const auto stop = [&loop] { loop.exit(0); };
  auto terminate = loop.on_signal(SIGTERM, stop);
  if (!terminate) return forward(terminate.error());
  auto interrupt = loop.on_signal(SIGINT, stop);
  if (!interrupt) return forward(interrupt.error());
  auto reload = loop.on_signal(SIGHUP, [&reconciler, &log] {
    const auto done = reconciler.reload();
    if (done)
      log.notice("configuration reloaded");
    else
      log.error(fmt::format("configuration kept as it was: {}", done.error().text));
  });
  if (!reload) return forward(reload.error());
  return Signals{std::move(*terminate), std::move(*interrupt), std::move(*reload)};
}

/// nullptr: D-Bus is not wanted.
Result<std::unique_ptr<BusService>> serve_bus(Loop& loop, Reconciler& reconciler, const Log& log,
                                              const std::string& address) {
  if (address == "none") return nullptr;
  return BusService::create(loop, reconciler, address, [&log](bool problem, const auto& text) {
    problem ? log.error(text) : log.info(text);
  });
}

/// nullptr: systemd's manager is not wanted.
std::unique_ptr<SystemdScopes> reach_systemd(Loop& loop, ProcView& proc, const Log& log,
                                             const std::string& address) {
  if (address == "none") return nullptr;
  return std::make_unique<SystemdScopes>(
      loop, proc, address,
      [&log](bool problem, const auto& text) { problem ? log.error(text) : log.info(text); });
}

/// libcgroup reads the same machine independently: where it disagrees, one of us is wrong.
void compare_with_libcgroup(const Host& host, const Log& log) {
  const auto mounts = libcgroup_mounts();
  if (!mounts) return log.warning(mounts.error().text);
  for (const auto& difference : compare_mounts(host, *mounts)) log.warning(difference);
}

}  // namespace

Result<int> run_daemon(const Options& options, const LoadedConfig& loaded) {
  block_signals();
  const SystemClock clock;
  Log log(clock, options.log_level);
  const Config& config = loaded.config;

  auto loop = Loop::create();
  if (!loop) return forward(loop.error());
  auto store = StateStore::open(run_directory(options));
  if (!store) return forward(store.error());
  auto host = discover_host(config.cgroup);
  if (!host) return forward(host.error());
  if (config.cgroup == Config::Cgroup{}) compare_with_libcgroup(*host, log);
  auto tree = KernelTree::open(*host);
  if (!tree) return forward(tree.error());
  auto proc = KernelProc::open();
  if (!proc) return forward(proc.error());

  const auto systemd = reach_systemd(**loop, **proc, log, config.systemd_address);
  Reconciler reconciler(**loop, {**tree, **proc, clock, systemd.get(), *store, log}, config);
  const auto take_hint = [&reconciler](const Hint& hint) { reconciler.hint(hint); };
  if (systemd != nullptr) systemd->set_hint_sink(take_hint);
  reconciler.set_kata_config(read_kata_config(config.discovery));
  reconciler.set_config_reader([&options]() -> Result<Config> {
    auto again = effective_config(options);
    if (!again) return forward(again.error());
    return std::move(again->config);
  });
  auto watches = Watches::create(**loop, config, *host, **proc, clock, take_hint);
  if (!watches) return forward(watches.error());
  for (const auto& note : (*watches)->problems()) log.warning(note);
  reconciler.set_follower(watches->get());
  auto signals = answer_signals(**loop, reconciler, log);
  if (!signals) return forward(signals.error());
  if (auto fed = (*loop)->enable_watchdog(); !fed) return forward(fed.error());

  if (auto started = reconciler.start(); !started) return forward(started.error());
  auto bus = serve_bus(**loop, reconciler, log, config.bus_address);
  if (!bus) return forward(bus.error());
  reconciler.set_publisher(bus->get());
  if (*bus != nullptr) {
    if (auto claimed = (*bus)->claim_name(); !claimed) return forward(claimed.error());
  }
  log.notice(fmt::format("kata-cgroupd {}: cgroup {}, {} sandboxes{}", KCG_VERSION,
                         name(host->mode), reconciler.list(false).size(),
                         config.mode == Mode::observe ? ", observe mode: nothing is written" : ""));
  (void)sd_notify(0, "READY=1");  // ignored: without a manager nobody waits for it
  return (*loop)->run();
}

}  // namespace kcg
