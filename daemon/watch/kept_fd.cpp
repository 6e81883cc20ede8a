// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/kept_fd.hpp"

#include <cerrno>

#include "base/reserve.hpp"
#include "base/text.hpp"

namespace kcg {

Result<Fd> kept(Fd fd) {
  if (fd.get() < first_for_looks()) return fd;
  return fail(EMFILE, "{} (the last {} are for looking at sandboxes; see LimitNOFILE)",
              errno_text(EMFILE), kForLooks);
}

}  // namespace kcg
