// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/service.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/bus/session.hpp"

namespace kcg {

namespace {

constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::seconds kLastRetry{10};

}  // namespace

struct BusService::Impl {
  Loop& loop;
  Manager& manager;
  std::string address;
  BusLog log;
  bool named = false;  ///< claim_name() was called: the name is part of a new session
  Instant delay{kFirstRetry};
  Source timer{};
  std::unique_ptr<bus::Session> session{};
  bool up = false;  ///< false: the session is dead and waits for its successor

  [[nodiscard]] Status open();
  void lost(const std::string& reason);
  void retry_later();
  void retry();
  void report(const Status& status) const {
    if (!status) log(true, status.error().text);
  }
};

Status BusService::Impl::open() {
  auto opened = bus::Session::open(loop, manager, address,
                                   [this](const std::string& reason) { lost(reason); });
  if (!opened) return forward(opened.error());
  if (named)
    if (auto status = (*opened)->claim_name(); !status) return status;
  session = *std::move(opened);
  up = true;
  return {};
}

void BusService::Impl::lost(const std::string& reason) {
  log(true, fmt::format("lost the bus '{}': {}; sandboxes are looked after as before, and the "
                        "connection is tried again",
                        address, reason));
  up = false;
  delay = kFirstRetry;
  retry_later();
}

void BusService::Impl::retry_later() {
  auto source = loop.at(SystemClock().now() + delay, [this] { retry(); });
  if (!source) return log(true, fmt::format("no more bus: {}", source.error().text));
  timer = *std::move(source);
  delay = std::min<Instant>(delay * 2, kLastRetry);
}

void BusService::Impl::retry() {
  session.reset();
  if (open()) return log(false, fmt::format("connected to the bus '{}' again", address));
  retry_later();
}

BusService::BusService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BusService::~BusService() = default;

Result<std::unique_ptr<BusService>> BusService::create(Loop& loop, Manager& manager,
                                                       const std::string& address, BusLog log) {
  std::unique_ptr<Impl> impl(new Impl{loop, manager, address, std::move(log)});
  if (auto status = impl->open(); !status) return forward(status.error());
  return std::unique_ptr<BusService>(new BusService(std::move(impl)));
}

Status BusService::claim_name() {
  impl_->named = true;
  if (!impl_->up) return {};  // lost since the start: the retry claims it
  return impl_->session->claim_name();
}

void BusService::added(const SandboxView& view) {
  if (impl_->up) impl_->report(impl_->session->added(view));
}

void BusService::removed(const std::string& id) {
  if (impl_->up) impl_->report(impl_->session->removed(id));
}

void BusService::changed(const SandboxView& before, const SandboxView& after) {
  if (impl_->up) impl_->report(impl_->session->changed(before, after));
}

}  // namespace kcg
