// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/connector.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fd.hpp"

namespace kcg::bus {

namespace {

using Connection = Result<std::unique_ptr<sdbus::IConnection>>;

Connection attempt_to(const std::string& address) {
  try {
    return connect(address);
  } catch (const std::exception& error) {  // nothing may leave the thread
    return fail(0, "bus '{}': {}", address, error.what());
  }
}

}  // namespace

/// Resource: what the loop and the thread share.
struct Connector::Attempt {
  explicit Attempt(Fd fd) : wake(std::move(fd)) {}

  Fd wake;  ///< an eventfd
  std::mutex mutex;
  std::optional<Connection> outcome;

  void finish(Connection result) {
    const std::scoped_lock lock(mutex);
    outcome = std::move(result);
    (void)::eventfd_write(wake.get(), 1);  // ignored: cannot fail, nobody else has written
  }
  [[nodiscard]] Connection take() {
    const std::scoped_lock lock(mutex);
    return *std::exchange(outcome, std::nullopt);
  }
};

Result<std::unique_ptr<Connector>> Connector::start(Loop& loop, const std::string& address,
                                                    Connected done) {
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) {
    const int code = errno;
    return fail(code, "eventfd: {}", errno_text(code));
  }
  auto attempt = std::make_shared<Attempt>(std::move(wake));
  std::unique_ptr<Connector> connector(new Connector(attempt));
  auto* const self = connector.get();
  auto source = loop.on_fd(attempt->wake.get(), EPOLLIN,
                           [self, attempt, done = std::move(done)](std::uint32_t) {
                             self->answered_ = Source();
                             done(attempt->take());
                           });
  if (!source) return forward(source.error());
  connector->answered_ = *std::move(source);
  try {
    // Not joined: nobody knows when a bus that is stopped goes on, and a daemon that is told to end
    // must not wait for it either.
    std::thread([attempt, address] { attempt->finish(attempt_to(address)); }).detach();
  } catch (const std::system_error& error) {
    return fail(error.code().value(), "a thread to reach the bus: {}", error.what());
  }
  return connector;
}

}  // namespace kcg::bus
