// SPDX-License-Identifier: Apache-2.0
#include "sockets.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace kcg::standin {

namespace {

constexpr std::chrono::seconds kPatience{60};

using Call = int (*)(int, const sockaddr*, socklen_t);

/// bind(2) or connect(2) by a path of any length.
Status at_path(const std::string& path, int fd, Call call) {
  const auto slash = path.rfind('/');
  const auto parent = path.substr(0, slash);
  const Fd directory(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto text = fmt::format("/proc/self/fd/{}/{}", directory.get(), path.substr(slash + 1));
  if (text.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "{}", path);
  std::copy(text.begin(), text.end(), address.sun_path);
  if (call(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
  const int code = errno;
  return fail(code, "{}: {}", path, errno_text(code));
}

}  // namespace

Result<Fd> listen_at(const std::string& path) {
  // Whoever sees the path must be able to connect: it gets its name when it listens already.
  const auto hidden = path + ".new";
  (void)::unlink(hidden.c_str());  // ignored: usually there is none; bind tells about the rest
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (auto done = at_path(hidden, fd.get(), ::bind); !done) return forward(done.error(), "bind");
  if (::listen(fd.get(), 8) == 0 && ::rename(hidden.c_str(), path.c_str()) == 0) return fd;
  const int code = errno;
  return fail(code, "listen {}: {}", path, errno_text(code));
}

Result<Fd> connect_to(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (auto done = at_path(path, fd.get(), ::connect); !done)
    return forward(done.error(), "connect");
  return fd;
}

Status send_line(int fd, std::string text) {
  text += '\n';
  const auto sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(text.size())) return {};
  const int code = sent < 0 ? errno : EMSGSIZE;
  return fail(code, "send: {}", errno_text(code));
}

Result<std::string> receive_line(int fd, std::string& rest, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (const auto end = rest.find('\n'); end != std::string::npos) {
      auto line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd readable{fd, POLLIN, 0};
    const auto wait = static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
    if (::poll(&readable, 1, wait) == 0) return fail(ETIMEDOUT, "no answer on the socket");
    std::array<char, 4096> buffer;
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return fail(ECONNRESET, "the other side closed the socket");
    rest.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> ask(const std::string& socket, const std::string& command) {
  auto fd = connect_to(socket);
  if (!fd) return forward(fd.error());
  if (auto sent = send_line(fd->get(), command); !sent) return forward(sent.error(), command);
  std::string rest;
  auto line = receive_line(fd->get(), rest, kPatience);
  if (!line) return forward(line.error(), command);
  if (line->rfind("ok", 0) != 0) return fail(0, "{}: {}", command, *line);
  return line->substr(std::min<std::size_t>(line->size(), 3));
}

}  // namespace kcg::standin
