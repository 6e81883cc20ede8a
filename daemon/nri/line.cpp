// SPDX-License-Identifier: Apache-2.0
#include "daemon/nri/line.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/signals.hpp"

namespace kcg {

namespace {

constexpr std::size_t kPortion = 65'536;
/// Answers are a few bytes each. Who leaves so many unread is not there any more.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;

Result<Fd> make_bell() {
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int code = errno;
  if (!bell) return fail(code, "eventfd: {}", errno_text(code));
  return bell;
}

void ring(const Fd& bell) {
  (void)::eventfd_write(bell.get(), 1);  // ignored: it fails only where it rings already
}

void silence(const Fd& bell) {
  eventfd_t rung = 0;
  (void)::eventfd_read(bell.get(), &rung);  // ignored: it fails only where it does not ring
}

}  // namespace

Result<std::unique_ptr<NriLine>> NriLine::start(Fd engine) {
  auto ready = make_bell();
  auto wake = make_bell();
  if (!ready) return forward(ready.error());
  if (!wake) return forward(wake.error());
  std::unique_ptr<NriLine> line(
      new NriLine(std::move(engine), *std::move(ready), *std::move(wake)));
  const AllSignalsBlocked blocked;
  try {
    line->thread_ = std::thread([self = line.get()] { self->run(); });
  } catch (const std::system_error& error) {
    return fail(error.code().value(), "a thread to answer the engine: {}", error.what());
  }
  return line;
}

NriLine::NriLine(Fd engine, Fd ready, Fd wake)
    : engine_(std::move(engine)),
      ready_(std::move(ready)),
      wake_(std::move(wake)),
      out_(nri::Plugin::hello()) {}

/// The thread never waits but in wait(): joining it takes no longer than reading one call.
NriLine::~NriLine() {
  over_ = true;
  ring(wake_);
  if (thread_.joinable()) thread_.join();
}

std::optional<nri::News> NriLine::next() {
  const std::scoped_lock lock(mutex_);
  if (told_.empty()) {
    silence(ready_);
    if (std::exchange(untaken_, 0) >= kMostUntaken) ring(wake_);
    return std::nullopt;
  }
  auto news = std::move(told_.front());
  told_.pop_front();
  return news;
}

std::optional<Error> NriLine::end() {
  const std::scoped_lock lock(mutex_);
  return told_.empty() ? end_ : std::nullopt;
}

void NriLine::run() {
  auto end = [this]() -> Error {
    try {
      return converse();
    } catch (const std::exception& error) {  // nothing may leave the thread
      return {0, error.what()};
    }
  }();
  const std::scoped_lock lock(mutex_);
  end_ = std::move(end);
  ring(ready_);
}

Error NriLine::converse() {
  auto done = flush();
  while (done) {
    const bool readable = wait();
    if (over_) return {ECANCELED, "it was hung up"};
    done = readable ? read() : flush();
  }
  return done.error();
}

/// True: there is something to read, and room for it.
bool NriLine::wait() {
  const bool room = [this] {
    const std::scoped_lock lock(mutex_);
    return untaken_ < kMostUntaken;
  }();
  const auto events = static_cast<short>((room ? POLLIN : 0) | (out_.empty() ? 0 : POLLOUT));
  std::array<pollfd, 2> both = {
      {{events == 0 ? -1 : engine_.get(), events, 0}, {wake_.get(), POLLIN, 0}}};
  (void)::poll(both.data(), both.size(), -1);  // ignored: EINTR is one more turn
  if (both[1].revents != 0) silence(wake_);
  return room && (both[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

Status NriLine::read() {
  std::array<char, kPortion> buffer;
  const auto got = ::recv(engine_.get(), buffer.data(), buffer.size(), 0);
  const int code = errno;
  if (got == 0) return fail(ECONNRESET, "the engine has closed the connection");
  if (got < 0 && (code == EAGAIN || code == EINTR)) return {};
  if (got < 0) return fail(code, "recv: {}", errno_text(code));
  const auto bytes = static_cast<std::size_t>(got);
  const auto taken = plugin_.take({buffer.data(), bytes}, out_);
  // Answered before anything follows from it.
  const auto sent = flush();
  const auto put = put_down(bytes);
  if (!taken) return taken;
  return sent ? put : sent;
}

Status NriLine::flush() {
  while (!out_.empty()) {
    const auto sent = ::send(engine_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    const int code = errno;
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
    if (sent >= 0 || code == EINTR) continue;
    if (code != EAGAIN) return fail(code, "send: {}", errno_text(code));
    if (out_.size() > kMostUnread) return fail(ENOBUFS, "the engine does not read our answers");
    break;
  }
  return {};
}

Status NriLine::put_down(std::size_t bytes) {
  while (true) {
    auto news = plugin_.news();
    if (!news) return forward(news.error());
    const std::scoped_lock lock(mutex_);
    if (!*news) {
      untaken_ = told_.empty() ? 0 : untaken_ + bytes;
      return {};
    }
    told_.push_back(**std::move(news));
    ring(ready_);
  }
}

}  // namespace kcg
