// SPDX-License-Identifier: Apache-2.0
#include "daemon/nri/client.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace kcg {

namespace {

/// What is heard in one turn of the loop; the rest is heard in the next.
constexpr std::size_t kMostInATurn = 64;

constexpr const char* kMissed =
    "pods' overhead, requests, labels and in-place updates are learnt from bundles and Kata's "
    "state alone meanwhile";

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return fail(ENAMETOOLONG, "the path is too long");
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  return address;
}

/// The socket's owner is who listens. Only root may tell us what a pod was granted.
Status check_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
    const int code = errno;
    return fail(code, "its owner is not known: {}", errno_text(code));
  }
  if (peer.uid != ::geteuid()) return fail(EPERM, "it belongs to uid {}, not to root", peer.uid);
  return {};
}

}  // namespace

NriClient::NriClient(Loop& loop, const Config::Nri& config, NriClientWiring wiring)
    : loop_(loop), config_(config), wiring_(std::move(wiring)) {
  if (config_.mode == NriMode::off) return;
  state_ = PartState::down;
  watch();
  if (!line_ && !retry_) connect();
}

/// Whoever binds a socket makes a file; engines do so again whenever they start.
void NriClient::watch() {
  const auto slash = config_.socket.rfind('/');
  const auto directory = slash == 0 ? "/" : config_.socket.substr(0, slash);
  watch_.emplace(
      loop_, std::vector<PathPattern>{{directory, {}, {config_.socket.substr(slash + 1)}, true}},
      [this](const std::string&) {
        if (!line_) connect();
      },
      [this] {
        if (!line_) connect();
      },
      wiring_.watch_health);
}

void NriClient::connect() {
  retry_ = Source();
  const auto opened = open();
  if (opened) return;
  const int code = opened.error().code;
  if (code != ENOENT && code != ENOTDIR && code != ECONNREFUSED) return lost(opened.error());
  // Who has bound it may be about to listen.
  if (code == ECONNREFUSED) try_again();
  absent();
}

/// The engine does not run, or has NRI disabled: its making of the socket will be heard.
void NriClient::absent() {
  state_ = PartState::down;
  if (config_.mode == NriMode::automatic) return wiring_.health("");
  wiring_.health(fmt::format("nobody listens at {}: is NRI enabled in the engine? {}",
                             config_.socket, kMissed));
}

Status NriClient::open() {
  const auto address = address_of(config_.socket);
  if (!address) return forward(address.error());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) {
    const int code = errno;
    return fail(code, "socket: {}", errno_text(code));
  }
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) < 0) {
    const int code = errno;
    return fail(code, "connect: {}", errno_text(code));
  }
  if (auto good = check_peer(fd.get()); !good) return good;
  auto patience = loop_.at(clock_.now() + wiring_.patience, [this] {
    lost({ETIMEDOUT, "the engine has not told its pods in time"});
  });
  if (!patience) return forward(patience.error());
  patience_ = std::move(*patience);
  auto line = NriLine::start(std::move(fd));
  if (!line) return forward(line.error());
  line_ = *std::move(line);
  return listen();
}

Status NriClient::listen() {
  auto source = loop_.on_fd(line_->ready(), EPOLLIN, [this](std::uint32_t) { hear(); });
  if (!source) return forward(source.error());
  io_ = std::move(*source);
  return {};
}

void NriClient::hear() {
  for (std::size_t i = 0; i < kMostInATurn; ++i) {
    const auto news = line_->next();
    if (!news) break;
    calls_.add(0, clock_.now());
    wiring_.news(*news);
    if (news->whole == nri::News::Whole::last) known();
  }
  if (const auto end = line_->end()) return lost(*end);
  if (calls_.flood()) rest();
}

void NriClient::known() {
  patience_ = Source();
  state_ = PartState::working;
  wiring_.health("");
}

/// Others are served first for a moment. Without a timer nothing but fairness is lost.
void NriClient::rest() {
  auto pause = loop_.at(clock_.now() + kRest, [this] {
    pause_ = Source();
    if (const auto heard = listen(); !heard) lost(heard.error());
  });
  if (!pause) return;
  io_ = Source();
  pause_ = std::move(*pause);
}

/// An engine that restarts is no trouble of ours: it is told when it cannot be reached again.
void NriClient::lost(const Error& why) {
  const bool worked = state_ == PartState::working;
  io_ = Source();
  pause_ = Source();
  patience_ = Source();
  line_.reset();
  state_ = PartState::down;
  if (!worked) wiring_.health(fmt::format("{}: {}; {}", config_.socket, why.text, kMissed));
  try_again();
}

void NriClient::try_again() {
  const auto now = clock_.now();
  auto retry = loop_.at(now + backoff_.failed(now), [this] { connect(); });
  if (retry) retry_ = std::move(*retry);
}

}  // namespace kcg
