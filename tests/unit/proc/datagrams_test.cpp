// SPDX-License-Identifier: Apache-2.0
//
// Against the kernel that the tests run on.
#include "proc/datagrams.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "base/fd.hpp"

namespace kcg {
namespace {

/// Resource: a netlink socket that others can send to.
class Socket final {
 public:
  Socket() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK)) {
    sockaddr_nl any{};
    any.nl_family = AF_NETLINK;
    socklen_t size = sizeof address_;
    const auto* name = reinterpret_cast<const sockaddr*>(&any);
    bound_ = ::bind(fd_.get(), name, sizeof any) == 0 &&
             ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address_), &size) == 0;
  }
  [[nodiscard]] bool bound() const { return bound_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool send(const Socket& to, std::string_view text) const {
    const auto* name = reinterpret_cast<const sockaddr*>(&to.address_);
    return ::sendto(fd_.get(), text.data(), text.size(), 0, name, sizeof to.address_) ==
           static_cast<ssize_t>(text.size());
  }

 private:
  Fd fd_;
  sockaddr_nl address_{};
  bool bound_ = false;
};

TEST(Datagrams, OnlyTheKernelIsBelieved) {
  const Socket ours, somebodys;
  ASSERT_TRUE(ours.bound() && somebodys.bound());
  ASSERT_TRUE(somebodys.send(ours, "I am the kernel"));
  int taken = 0;
  const auto received = receive_datagrams(ours.fd(), [&](auto) { ++taken; });
  ASSERT_TRUE(received) << received.error().text;
  EXPECT_EQ(*received, 1U);
  EXPECT_EQ(taken, 0);
}

TEST(Datagrams, NothingIsWaitedFor) {
  const Socket ours;
  ASSERT_TRUE(ours.bound());
  const auto received = receive_datagrams(ours.fd(), [](auto) {});
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, EAGAIN);
}

}  // namespace
}  // namespace kcg
