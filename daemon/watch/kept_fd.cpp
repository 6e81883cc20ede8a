// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kept_fd.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <utility>

#include "base/text.hpp"

namespace kcg {

namespace {

/// A pass has few files open at a time; command lines that hang have one each, the bus's callers
/// some.
constexpr rlim_t kForLooks = 24;

}  // namespace

Result<Fd> kept(Fd fd) {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  if (!known || static_cast<rlim_t>(fd.get()) + kForLooks < limit.rlim_cur) return fd;
  return fail(EMFILE, "{} (the last {} are for looking at sandboxes; see LimitNOFILE)",
              errno_text(EMFILE), kForLooks);
}

}  // namespace kcg
