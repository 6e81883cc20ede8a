// SPDX-License-Identifier: Apache-2.0
#include "echo.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace kcg::bench {

Echo::Echo() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    throw std::runtime_error("socketpair");
  ours_ = Fd(ends[0]);
  thread_ = std::thread([theirs = Fd(ends[1])] {
    for (char byte = 0; ::read(theirs.get(), &byte, 1) == 1;)
      if (::write(theirs.get(), &byte, 1) != 1) return;
  });
}

Echo::~Echo() {
  ours_.reset();
  thread_.join();
}

void Echo::call() const {
  char byte = 0;
  if (::write(ours_.get(), &byte, 1) != 1 || ::read(ours_.get(), &byte, 1) != 1)
    throw std::runtime_error("the echo is gone");
}

}  // namespace kcg::bench
