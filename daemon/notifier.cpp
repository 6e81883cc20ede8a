// SPDX-License-Identifier: Apache-2.0
#include "daemon/notifier.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/fd.hpp"

namespace kcg {

namespace {

/// Of a path, or of an abstract name, which begins with "@"; 0: of neither.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  if (name.size() < 2 || name.size() >= sizeof address.sun_path) return 0;
  if (name.front() != '/' && name.front() != '@') return 0;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  const bool abstract = name.front() == '@';
  if (abstract) address.sun_path[0] = '\0';
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 0 : 1));
}

/// errno; 0: sent.
int sent_to(const std::string& name, const std::string& text) {
  sockaddr_un address{};
  const auto length = address_of(name, address);
  if (length == 0) return EINVAL;
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const auto sent = ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&address), length);
  return sent < 0 ? errno : 0;
}

}  // namespace

void Notifier::tell(const std::string& key, const std::string& value) {
  untold_.insert_or_assign(key, value);
  if (!retry_) send();
}

/// Where nobody listens nobody is told: only a full queue, or want of memory, passes.
void Notifier::send() {
  retry_ = Source();
  const char* const name = std::getenv("NOTIFY_SOCKET");
  std::string text;
  for (const auto& [key, value] : untold_) text.append(key).append("=").append(value).append("\n");
  const int error = name == nullptr ? 0 : sent_to(name, text);
  if (error != EAGAIN && error != ENOBUFS && error != ENOMEM && error != EMFILE && error != ENFILE)
    return untold_.clear();
  auto retry = loop_.at(SystemClock().now() + pause_, [this] { send(); });
  if (retry) retry_ = std::move(*retry);
}

void Notifier::feed_watchdog() {
  std::uint64_t usec = 0;
  if (sd_watchdog_enabled(0, &usec) <= 0) return;
  tell("WATCHDOG", "1");
  const Instant half(static_cast<Instant::rep>(usec / 2));
  auto next = loop_.at(SystemClock().now() + half, [this] { feed_watchdog(); });
  if (next) watchdog_ = std::move(*next);
}

}  // namespace kcg
