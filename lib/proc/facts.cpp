// SPDX-License-Identifier: Apache-2.0
#include "proc/facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "kernel/cmdline.hpp"
#include "kernel/proc_status.hpp"

namespace kcg {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// Text of a magic link, which is read and never followed; "" where there is none.
std::string link_text(int dir, const char* name) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t size = ::readlinkat(dir, name, buffer.data(), buffer.size());
  return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::string without_deleted(std::string text) {
  if (text.ends_with(kDeleted)) text.resize(text.size() - kDeleted.size());
  return text;
}

/// Device and inode behind `root`. A magic link cannot be crossed with openat2(NO_MAGICLINKS), so
/// this one is followed plainly: it leads to a directory that the kernel holds for the process, and
/// nothing of it is opened. AT_STATX_DONT_SYNC: no network file system is asked.
std::optional<std::pair<std::uint64_t, std::uint64_t>> root_of(int dir, const char* name) {
  struct statx st{};
  if (::statx(dir, name, AT_STATX_DONT_SYNC, STATX_INO, &st) != 0) return std::nullopt;
  const std::uint64_t device = (std::uint64_t{st.stx_dev_major} << 32) | st.stx_dev_minor;
  return std::pair{device, st.stx_ino};
}

}  // namespace

Result<OwnIdentity> read_own_identity(const std::string& proc_root) {
  const std::string self = proc_root + "/self";  // a symbolic link: the kernel's own
  const Fd dir(::open(self.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir) {
    const int code = errno;
    return fail(code, "{}: {}", self, errno_text(code));
  }
  OwnIdentity own{link_text(dir.get(), "ns/pid"), link_text(dir.get(), "ns/user"), 0, 0};
  const auto root = root_of(dir.get(), "root");
  if (!root || own.pid_ns.empty() || own.user_ns.empty())
    return fail(EACCES, "{}: root and namespaces are not readable; is {} a proc file system?", self,
                proc_root);
  std::tie(own.root_device, own.root_inode) = *root;
  return own;
}

Result<ProcFacts> read_facts(const Dir& process, const ProcStat& stat, const OwnIdentity& own) {
  ProcFacts facts;
  facts.key = stat.key();
  facts.ppid = stat.ppid;
  facts.comm = stat.comm;
  facts.kernel_thread = stat.kernel_thread();
  const auto status = process.read("status");
  if (!status) return forward(status.error());
  const auto uid = parse_real_uid(*status);
  if (!uid) return forward(uid.error());
  facts.real_uid = *uid;
  facts.same_pid_ns = link_text(process.fd(), "ns/pid") == own.pid_ns;
  facts.same_user_ns = link_text(process.fd(), "ns/user") == own.user_ns;
  if (facts.kernel_thread) return facts;
  facts.exe = without_deleted(link_text(process.fd(), "exe"));
  facts.cwd = without_deleted(link_text(process.fd(), "cwd"));
  const auto root = root_of(process.fd(), "root");
  facts.same_root = root && *root == std::pair{own.root_device, own.root_inode};
  const auto cmdline = process.read("cmdline");
  // A command line of more than a megabyte is nobody's that we look for: it proves nothing.
  if (!cmdline && cmdline.error().code != EFBIG) return forward(cmdline.error());
  if (cmdline) facts.args = split_cmdline(*cmdline);
  return facts;
}

}  // namespace kcg
