// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/service.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/bus/connector.hpp"
#include "daemon/bus/session.hpp"

namespace kcg {

namespace {

constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::seconds kLastRetry{10};
/// A bus that is well answers within milliseconds.
constexpr std::chrono::seconds kPatience{3};

}  // namespace

struct BusService::Impl {
  Loop& loop;
  Manager& manager;
  std::string address;
  BusLog log;
  bool named = false;  ///< claim_name() was called: the name is part of a new session
  Instant delay{kFirstRetry};
  Source retry_timer{};
  Source patience{};
  std::unique_ptr<bus::Connector> connector{};
  std::unique_ptr<bus::Session> session{};
  bool up = false;    ///< false: there is no session, or it is dead and waits for its successor
  bool away = false;  ///< somebody was told that there is no bus
  std::function<void(Status)> settled{};

  void connect();
  void connected(Result<std::unique_ptr<sdbus::IConnection>> connection);
  void claim();
  void claimed(const Status& status);
  void there();
  void failed(const std::string& reason);
  void settle(Status status);
  void later(Source& timer, Instant delay, void (Impl::*act)());
  void retry_later();
  void retry();
  void no_answer();
};

void BusService::Impl::later(Source& timer, Instant after, void (Impl::*act)()) {
  auto source = loop.at(SystemClock().now() + after, [this, act] { (this->*act)(); });
  if (!source) return log(true, fmt::format("no more bus: {}", source.error().text));
  timer = *std::move(source);
}

void BusService::Impl::connect() {
  later(patience, kPatience, &Impl::no_answer);
  auto begun = bus::Connector::start(loop, address,
                                     [this](auto connection) { connected(std::move(connection)); });
  if (!begun) return failed(begun.error().text);
  connector = *std::move(begun);
}

void BusService::Impl::connected(Result<std::unique_ptr<sdbus::IConnection>> connection) {
  connector.reset();
  if (!connection) return failed(connection.error().text);
  auto opened = bus::Session::open(loop, manager, *std::move(connection),
                                   {[this](const std::string& reason) { failed(reason); },
                                    [this](const std::string& text) { log(true, text); }});
  if (!opened) return failed(opened.error().text);
  session = *std::move(opened);
  up = true;
  if (named) return claim();
  there();
}

void BusService::Impl::claim() {
  const auto asked = session->claim_name([this](const Status& status) { claimed(status); });
  if (!asked) failed(asked.error().text);
}

void BusService::Impl::claimed(const Status& status) {
  if (status) {
    there();
    return settle({});
  }
  if (settled) return settle(status);  // at the start: for whoever starts us to decide
  failed(status.error().text);
}

void BusService::Impl::there() {
  patience = Source();
  delay = kFirstRetry;
  if (std::exchange(away, false)) log(false, fmt::format("connected to the bus '{}'", address));
}

/// Told once, until it is there again.
void BusService::Impl::failed(const std::string& reason) {
  if (!std::exchange(away, true))
    log(true, fmt::format("{} the bus '{}': {}; sandboxes are looked after as before, and the "
                          "connection is tried again",
                          up ? "lost" : "cannot reach", address, reason));
  up = false;
  patience = Source();
  retry_later();
  settle({});
}

void BusService::Impl::no_answer() {
  if (!std::exchange(away, true))
    log(true, fmt::format("the bus '{}' does not answer; sandboxes are looked after as before, "
                          "until it does",
                          address));
  settle({});
}

void BusService::Impl::settle(Status status) {
  if (const auto tell = std::exchange(settled, nullptr)) tell(std::move(status));
}

void BusService::Impl::retry_later() {
  later(retry_timer, delay, &Impl::retry);
  delay = std::min<Instant>(delay * 2, kLastRetry);
}

void BusService::Impl::retry() {
  session.reset();
  connect();
}

BusService::BusService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BusService::~BusService() = default;

std::unique_ptr<BusService> BusService::create(Loop& loop, Manager& manager,
                                               const std::string& address, BusLog log) {
  std::unique_ptr<Impl> impl(new Impl{loop, manager, address, std::move(log)});
  impl->connect();
  return std::unique_ptr<BusService>(new BusService(std::move(impl)));
}

void BusService::claim_name(std::function<void(Status)> settled) {
  impl_->named = true;
  impl_->settled = std::move(settled);
  if (impl_->up) return impl_->claim();
  // Else the attempt that is under way claims it. One that has failed already is not waited for.
  if (impl_->away) impl_->later(impl_->patience, Instant(0), &Impl::no_answer);
}

void BusService::added(const SandboxView& view) {
  if (impl_->up) impl_->session->added(view);
}

void BusService::removed(const std::string& id) {
  if (impl_->up) impl_->session->removed(id);
}

void BusService::changed(const SandboxView& before, const SandboxView& after) {
  if (impl_->up) impl_->session->changed(before, after);
}

void BusService::happened(const SandboxHistory& one) {
  if (impl_->up) impl_->session->happened(one);
}

void BusService::problems_changed() {
  if (impl_->up) impl_->session->problems_changed();
}

}  // namespace kcg
