// SPDX-License-Identifier: Apache-2.0
#include "base/fd.hpp"

#include <unistd.h>

namespace kcg {

void Fd::reset(int fd) noexcept {
  if (fd_ >= 0) (void)::close(fd_);  // ignored: nothing can be done about it, the fd is gone
  fd_ = fd;
}

}  // namespace kcg
