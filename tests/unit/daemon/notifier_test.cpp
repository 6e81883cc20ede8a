// SPDX-License-Identifier: Apache-2.0
//
// A service manager that does not read is waited for by nobody.
#include "daemon/notifier.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/fd.hpp"

namespace kcg::test {
namespace {

class Notifying : public ::testing::Test {
 protected:
  Notifying() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    EXPECT_EQ(::bind(manager_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~Notifying() override {
    ::unsetenv("NOTIFY_SOCKET");
    std::filesystem::remove(path_);
  }
  /// "": nothing is there.
  std::string read() {
    std::array<char, 1000> text{};
    const auto got = ::recv(manager_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return got < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(got));
  }
  /// Until there is something, or all patience is gone.
  std::string wait() {
    for (int turns = 0; turns < 200; ++turns) {
      if (auto text = read(); !text.empty()) return text;
      (void)::sd_event_run(loop_->get(), 50'000);  // ignored: looked at above
    }
    return "";
  }

  std::string path_ = ::testing::TempDir() + "notify-" + std::to_string(::getpid());
  Fd manager_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::unique_ptr<Loop> loop_ = Loop::create().value();
  Notifier notifier_{*loop_, std::chrono::milliseconds(10)};
};

TEST_F(Notifying, IsHeardAtOnce) {
  notifier_.tell("READY", "1");
  EXPECT_EQ(read(), "READY=1\n");
  EXPECT_EQ(read(), "");
}

TEST_F(Notifying, AnAbstractNameIsHeard) {
  const std::string name = "kcg-notify-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  manager_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(sizeof address.sun_family + 1 + name.size());
  ASSERT_EQ(::bind(manager_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  notifier_.tell("READY", "1");
  EXPECT_EQ(read(), "READY=1\n");
}

TEST_F(Notifying, WhoDoesNotReadIsNotWaitedForAndHearsTheLastLater) {
  for (int i = 0; i <= 5000; ++i) notifier_.tell("STATUS", std::to_string(i));
  notifier_.tell("READY", "1");
  std::string text;
  while (text.find("STATUS=5000") == std::string::npos) {
    text = wait();
    ASSERT_NE(text, "");
  }
  EXPECT_EQ(text, "READY=1\nSTATUS=5000\n");
  EXPECT_EQ(read(), "");
}

TEST_F(Notifying, NobodyToTellIsNoTrouble) {
  for (const char* name : {"", "/nonexistent/socket", "relative", "vsock:2:1"}) {
    ::setenv("NOTIFY_SOCKET", name, 1);
    notifier_.tell("READY", "1");
  }
  ::unsetenv("NOTIFY_SOCKET");
  notifier_.tell("READY", "1");
  EXPECT_EQ(read(), "");
}

TEST_F(Notifying, FeedsTheWatchdogAgainAndAgain) {
  notifier_.feed_watchdog();
  EXPECT_EQ(read(), "") << "the unit asks for none";
  ::setenv("WATCHDOG_USEC", "20000", 1);
  notifier_.feed_watchdog();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait(), "WATCHDOG=1\n");
  ::unsetenv("WATCHDOG_USEC");
}

}  // namespace
}  // namespace kcg::test
