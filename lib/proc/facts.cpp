// SPDX-License-Identifier: Apache-2.0
#include "proc/facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "kernel/proc_status.hpp"

namespace kcg {

namespace {

/// Text of a magic link, which is read and never followed; "" where there is none.
Result<std::string> link_text(int dir, const char* name) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t size = ::readlinkat(dir, name, buffer.data(), buffer.size());
  if (size >= 0) return std::string(buffer.data(), static_cast<std::size_t>(size));
  const int code = errno;
  if (code == ENOENT) return std::string();  // a zombie, or a kernel thread
  return fail(code, "{}: {}", name, errno_text(code));
}

/// Who is behind a magic link to a directory. It cannot be crossed with openat2(NO_MAGICLINKS), so
/// this one is followed plainly: it leads to a directory that the kernel holds for the process, and
/// nothing of it is opened. AT_STATX_DONT_SYNC: no network file system is asked.
std::optional<FileId> directory_behind(int dir, const char* name) {
  struct statx st{};
  if (::statx(dir, name, AT_STATX_DONT_SYNC, STATX_INO, &st) != 0) return std::nullopt;
  return FileId{gnu_dev_makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino};
}

}  // namespace

Result<OwnIdentity> read_own_identity(const std::string& proc_root) {
  const std::string self = proc_root + "/self";  // a symbolic link: the kernel's own
  const Fd dir(::open(self.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir) {
    const int code = errno;
    return fail(code, "{}: {}", self, errno_text(code));
  }
  const auto pid_ns = link_text(dir.get(), "ns/pid");
  const auto user_ns = link_text(dir.get(), "ns/user");
  // The node's root directory is pid 1's; ours may be another one, that a hardened unit gave us.
  auto root = directory_behind(AT_FDCWD, (proc_root + "/1/root").c_str());
  if (!root) root = directory_behind(dir.get(), "root");
  if (!root || !pid_ns || pid_ns->empty() || !user_ns || user_ns->empty())
    return fail(EACCES, "{}: root and namespaces are not readable; is {} a proc file system?", self,
                proc_root);
  return OwnIdentity{*pid_ns, *user_ns, *root};
}

Result<ProcFacts> read_identity(const Dir& process, const ProcStat& stat, const OwnIdentity& own) {
  ProcFacts facts;
  facts.key = stat.key();
  facts.ppid = stat.ppid;
  facts.comm = stat.comm;
  facts.kernel_thread = stat.kernel_thread();
  facts.args_unknown = "the command line was not looked at";
  const auto status = process.read_kernel("status");
  if (!status) return forward(status.error());
  const auto uid = parse_real_uid(*status);
  if (!uid) return forward(uid.error());
  facts.real_uid = *uid;
  const auto pid_ns = link_text(process.fd(), "ns/pid");
  const auto user_ns = link_text(process.fd(), "ns/user");
  if (!pid_ns || !user_ns) return forward(pid_ns ? user_ns.error() : pid_ns.error());
  facts.same_pid_ns = *pid_ns == own.pid_ns;
  facts.same_user_ns = *user_ns == own.user_ns;
  if (facts.kernel_thread) return facts;
  auto exe = link_text(process.fd(), "exe");
  auto cwd = link_text(process.fd(), "cwd");
  if (!exe || !cwd) return forward(exe ? cwd.error() : exe.error());
  facts.exe = std::string(without_deleted(*exe));
  facts.cwd = std::string(without_deleted(*cwd));
  facts.same_root = directory_behind(process.fd(), "root") == own.root;
  // Of a process in a container nothing is followed that may be on a file system of its own.
  if (facts.same_root && facts.same_pid_ns && facts.same_user_ns && facts.real_uid == 0)
    facts.cwd_id = directory_behind(process.fd(), "cwd");
  return facts;
}

}  // namespace kcg
