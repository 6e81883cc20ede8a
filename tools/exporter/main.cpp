// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroup-exporter: an HTTP server for Prometheus, beside the daemon, without its privileges.
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "tools/cgctl/metrics/sample.hpp"
#include "tools/exporter/options.hpp"

namespace kcg::exporter {

namespace {

constexpr int kFailed = 1;
/// However many ask, the daemon is not asked more often.
constexpr Instant kFresh = std::chrono::seconds(1);

/// Resource: what is served. The library calls it from threads of its own.
class Daemon final : public prometheus::Collectable {
 public:
  explicit Daemon(std::string bus) : bus_(std::move(bus)) {}

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!taken_ || SystemClock().now() >= *taken_ + kFresh) {
      auto sample = cgctl::take_metrics(bus_);
      if (sample.why_not != last_.why_not && !sample.why_not.empty())
        std::fprintf(stderr, "%s\n", sample.why_not.c_str());
      last_ = std::move(sample);
      taken_ = SystemClock().now();
    }
    return last_.families;
  }

 private:
  std::string bus_;
  mutable std::mutex mutex_;
  mutable cgctl::MetricsSample last_;
  mutable std::optional<Instant> taken_;
};

/// Before the first thread: they inherit it, and only we wait for the signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int serve(const Options& options) {
  const auto signals = block_signals();
  const auto daemon = std::make_shared<Daemon>(options.bus);
  // The library speaks by exceptions; they end here.
  try {
    prometheus::Exposer server(options.listen);
    server.RegisterCollectable(daemon);
    std::printf("serves on port %d\n", server.GetListeningPorts().at(0));
    std::fflush(stdout);
    sd_notifyf(0, "READY=1\nSTATUS=Serves %s", options.listen.c_str());
    int signal = 0;
    sigwait(&signals, &signal);
    sd_notify(0, "STOPPING=1");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kata-cgroup-exporter: '%s' cannot be served: %s\n",
                 options.listen.c_str(), error.what());
    return kFailed;
  }
}

int run(int argc, const char* const* argv) {
  const auto line = parse_command_line(argc, argv);
  std::fputs(line.out.c_str(), stdout);
  std::fputs(line.err.c_str(), stderr);
  return line.exit ? *line.exit : serve(line.options);
}

}  // namespace

}  // namespace kcg::exporter

int main(int argc, char** argv) { return kcg::exporter::run(argc, argv); }
