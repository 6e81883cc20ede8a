// SPDX-License-Identifier: Apache-2.0
#include "daemon/nri/client.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace kcg {

namespace {

/// What is read in one turn of the loop; the rest is read in the next.
constexpr int kReads = 4;
constexpr std::size_t kPortion = 65'536;
/// Answers are a few bytes each. Who leaves so many unread is not there any more.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;
/// After so many calls that nobody else had his turn, he has it.
constexpr Instant kRest = std::chrono::milliseconds(5);

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
  if (!fd_ && !retry_) connect();
}

/// Whoever binds a socket makes a file; engines do so again whenever they start.
void NriClient::watch() {
  const auto slash = config_.socket.rfind('/');
  const auto directory = slash == 0 ? "/" : config_.socket.substr(0, slash);
  watch_.emplace(
      loop_, std::vector<PathPattern>{{directory, {}, {config_.socket.substr(slash + 1)}, true}},
      [this](std::size_t, const std::string&) {
        if (!fd_) connect();
      },
      [this] {
        if (!fd_) connect();
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
  fd_ = std::move(fd);
  plugin_.emplace();
  out_ = nri::Plugin::hello();
  if (auto heard = listen(); !heard) return heard;
  return flush();
}

Status NriClient::listen() {
  const std::uint32_t events = EPOLLIN | (out_waits_ ? EPOLLOUT : 0U);
  auto source = loop_.on_caller(fd_.get(), events, [this](std::uint32_t now) { woken(now); });
  if (!source) return forward(source.error());
  io_ = std::move(*source);
  return {};
}

void NriClient::woken(std::uint32_t events) {
  const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  auto done = readable ? read() : Status();
  // Answered before anything follows from it.
  if (const auto sent = flush(); done && !sent) done = sent;
  const auto handed = plugin_ ? hand_over() : Status();
  if (done && !handed) done = handed;
  if (!done) return lost(done.error());
  if (calls_.flood()) rest();
}

Status NriClient::read() {
  std::array<char, kPortion> buffer;
  for (int i = 0; i < kReads; ++i) {
    const auto got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    const int code = errno;
    if (got == 0) return fail(ECONNRESET, "the engine has closed the connection");
    if (got < 0 && (code == EAGAIN || code == EINTR)) return {};
    if (got < 0) return fail(code, "recv: {}", errno_text(code));
    calls_.add(0, clock_.now());
    const auto taken = plugin_->take({buffer.data(), static_cast<std::size_t>(got)}, out_);
    if (!taken) return taken;
  }
  return {};
}

Status NriClient::flush() {
  while (!out_.empty()) {
    const auto sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    const int code = errno;
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
    if (sent >= 0 || code == EINTR) continue;
    if (code != EAGAIN) return fail(code, "send: {}", errno_text(code));
    if (out_.size() > kMostUnread) return fail(ENOBUFS, "the engine does not read our answers");
    break;
  }
  if (std::exchange(out_waits_, !out_.empty()) != out_waits_) return listen();
  return {};
}

Status NriClient::hand_over() {
  while (true) {
    const auto news = plugin_->news();
    if (!news) return forward(news.error());
    if (!*news) return {};
    wiring_.news(**news);
    if ((*news)->whole == nri::News::Whole::last) known();
  }
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
  plugin_.reset();
  out_.clear();
  out_waits_ = false;
  fd_.reset();
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
