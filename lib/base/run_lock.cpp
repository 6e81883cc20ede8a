// SPDX-License-Identifier: Apache-2.0
#include "base/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace kcg {

Result<Fd> take_run_lock(const Dir& dir, const std::string& name) {
  Fd lock(::openat(dir.fd(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) {
    const int code = errno;
    return fail(code, "{}/lock: {}", name, errno_text(code));
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    if (code == EWOULDBLOCK)
      return fail(EBUSY, "another kata-cgroupd is running: it holds {}/lock; stop it first", name);
    return fail(code, "{}/lock: {}", name, errno_text(code));
  }
  return lock;
}

}  // namespace kcg
