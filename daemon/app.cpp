// SPDX-License-Identifier: Apache-2.0
#include "daemon/app.hpp"

#include <malloc.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/run_lock.hpp"
#include "base/version.hpp"
#include "cgroup/host.hpp"
#include "cgroup/kernel_tree.hpp"
#include "cgroup/libcgroup_view.hpp"
#include "daemon/bus/service.hpp"
#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "daemon/notifier.hpp"
#include "daemon/nri/client.hpp"
#include "daemon/reconciler.hpp"
#include "daemon/status_line.hpp"
#include "daemon/systemd/scopes.hpp"
#include "daemon/watches.hpp"
#include "observe/survey_file.hpp"
#include "proc/kernel_proc.hpp"
#include "proc/own_namespaces.hpp"

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

/// What is large and passes, as a list of all processes, stands apart in the heap and is given back
/// whole. The allocator would learn to keep it instead, as large as the largest that ever passed.
void keep_large_apart() {
  (void)::mallopt(M_MMAP_THRESHOLD, 128 * 1024);  // ignored: then it is as if nobody had asked
}

/// Value: the signals that the loop answers.
struct Signals {
  Source terminate, interrupt, reload;
};

Result<Signals> answer_signals(Loop& loop, NodeApi& api) {
  const auto stop = [&loop] { loop.exit(0); };
  auto terminate = loop.on_signal(SIGTERM, stop);
  if (!terminate) return forward(terminate.error());
  auto interrupt = loop.on_signal(SIGINT, stop);
  if (!interrupt) return forward(interrupt.error());
  auto reload = loop.on_signal(SIGHUP, [&api] {
    (void)api.reload();  // ignored: it says what has changed, or what is wrong
  });
  if (!reload) return forward(reload.error());
  return Signals{std::move(*terminate), std::move(*interrupt), std::move(*reload)};
}

/// nullptr: D-Bus is not wanted.
std::unique_ptr<BusService> serve_bus(Loop& loop, NodeApi& api, const Log& log,
                                      const std::string& address) {
  if (address == "none") return nullptr;
  return BusService::create(loop, api, address, [&log](bool problem, const auto& text) {
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

/// Resource: what the daemon reads, writes and keeps.
struct Ground {
  StateStore store;
  std::unique_ptr<KernelTree> tree;
  std::unique_ptr<KernelProc> proc;
};

Result<Ground> open_ground(const Options& options, const Config& config, const Log& log) {
  auto store = StateStore::open(below_run_root(options, kRunDirectory),
                                below_run_root(options, kStateDirectory));
  if (!store) return forward(store.error());
  auto host = discover_host(config.cgroup);
  if (!host) return forward(host.error());
  if (config.cgroup == Config::Cgroup{}) compare_with_libcgroup(*host, log);
  auto tree = KernelTree::open(std::move(*host), config.run_root);
  if (!tree) return forward(tree.error());
  auto proc = KernelProc::open();
  if (!proc) return forward(proc.error());
  return Ground{std::move(*store), std::move(*tree), std::move(*proc)};
}

/// READY=1 when the name on the bus is ours, or cannot be had for now; an error: it was refused.
Result<int> serve(Loop& loop, BusService* bus, const std::function<void()>& ready) {
  if (bus == nullptr) {
    ready();
    return loop.run();
  }
  std::optional<Error> refused;
  bus->claim_name([&](const Status& claimed) {
    if (claimed) return ready();
    refused = claimed.error();
    loop.exit(1);
  });
  auto ended = loop.run();
  if (refused) return forward(*refused);
  return ended;
}

}  // namespace

Result<int> run_daemon(const Options& options, const Config& config) {
  if (const auto problem = namespace_problem(own_namespaces()); !problem.empty())
    return fail(0, "{}", problem);
  block_signals();
  keep_large_apart();
  const SystemClock clock;
  Log log(clock, options.log_level);
  auto loop = Loop::create();
  if (!loop) return forward(loop.error());
  auto ground = open_ground(options, config, log);
  if (!ground) return forward(ground.error());
  const auto& tree = ground->tree;
  const auto& proc = ground->proc;

  const auto systemd = reach_systemd(**loop, *proc, log, config.systemd_address);
  Reconciler reconciler(**loop, {*tree, *proc, clock, systemd.get(), ground->store, log}, config);
  const auto take_hint = [&reconciler](const Hint& hint) { reconciler.hint(hint); };
  if (systemd != nullptr) systemd->set_hint_sink(take_hint);
  auto& api = reconciler.api();
  api.set_config_reader([&options] { return effective_config(options); });
  Health health([&log](bool begins, const std::string& part, const std::string& text) {
    log.say(begins ? LogLevel::warning : LogLevel::notice, text, {{"PART", part}});
  });
  api.set_health(&health);
  health.link("systemd", [&systemd] {
    if (systemd == nullptr) return PartState::off;
    return systemd->reached() ? PartState::working : PartState::down;
  });
  Notifier notifier(**loop);
  StatusLine status(
      **loop, [&health] { return health.problems().size(); },
      [&notifier](const std::string& text) { notifier.tell("STATUS", text); });
  reconciler.set_publisher(&status);
  health.on_change([&status] { status.problems_changed(); });
  (*loop)->on_failure([&](const std::string& what) {
    log.error(fmt::format("a handler failed: {}; everything is looked at again", what));
    reconciler.hint({HintKind::rescan, "", 0});
  });
  Watches watches(**loop, config, tree->host(), *proc, take_hint, health);
  reconciler.set_follower(&watches);
  NriClient nri(**loop, config.nri,
                {[&reconciler](const nri::News& news) { reconciler.pods_told(news); },
                 health.part("NRI"), health.part("NRI's socket")});
  health.link("NRI", [&nri] { return nri.state(); });
  auto signals = answer_signals(**loop, api);
  if (!signals) return forward(signals.error());
  notifier.feed_watchdog();

  reconciler.start();
  const auto bus = serve_bus(**loop, api, log, config.bus_address);
  status.set_next(bus.get());
  return serve(**loop, bus.get(), [&] {
    const bool observes = config.mode == Mode::observe;
    log.notice(fmt::format("kata-cgroupd {}: cgroup {}, {} sandboxes{}", version(),
                           name(tree->host().mode), api.list(false).size(),
                           observes ? ", observe mode: nothing is written" : ""));
    notifier.tell("STATUS", status.take());
    notifier.tell("READY", "1");
  });
}

}  // namespace kcg
