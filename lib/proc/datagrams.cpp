// SPDX-License-Identifier: Apache-2.0
#include "proc/datagrams.hpp"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace kcg {

Result<std::size_t> receive_datagrams(int fd,
                                      const std::function<void(std::span<const std::byte>)>& take) {
  std::array<std::array<std::byte, kDatagram>, kMostDatagrams> data;
  std::array<iovec, kMostDatagrams> vectors{};
  std::array<sockaddr_nl, kMostDatagrams> senders{};
  std::array<mmsghdr, kMostDatagrams> headers{};
  for (std::size_t i = 0; i < kMostDatagrams; ++i) {
    vectors[i] = {data[i].data(), data[i].size()};
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &senders[i];
    headers[i].msg_hdr.msg_namelen = sizeof senders[i];
  }
  const int count = ::recvmmsg(fd, headers.data(), kMostDatagrams, MSG_DONTWAIT, nullptr);
  if (count < 0) return fail(errno, "receive: {}", errno_text(errno));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (senders[i].nl_pid == 0)
      take(std::span(data[i]).first(std::min<std::size_t>(headers[i].msg_len, kDatagram)));
  return static_cast<std::size_t>(count);
}

}  // namespace kcg
