// SPDX-License-Identifier: Apache-2.0
#include "base/dir.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kcg {

namespace {

constexpr std::uint64_t kBeneath = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

Result<Fd> open_beneath(int dir, const std::string& path, int flags, unsigned mode = 0) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = kBeneath;
  for (int tries = 0; tries < 8; ++tries) {
    const long fd = ::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    const int code = errno;
    if (code != EAGAIN && code != EINTR) return fail(code, "{}: {}", path, errno_text(code));
  }
  return fail(EAGAIN, "{}: the directory keeps changing", path);
}

FileStamp stamp_of(const struct stat& st) {
  return {st.st_dev, st.st_ino, st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec,
          static_cast<std::uint64_t>(st.st_size)};
}

/// Runs `act(dirfd, name)` on the pinned parent directory of `path`.
template <class Act>
Status in_parent(int dir, const std::string& path, Act act) {
  const auto slash = path.rfind('/');
  const bool direct = slash == std::string::npos;
  auto parent =
      direct ? Result<Fd>() : open_beneath(dir, path.substr(0, slash), O_PATH | O_DIRECTORY);
  if (!parent) return forward(parent.error(), path);
  if (act(direct ? dir : parent->get(), path.c_str() + (direct ? 0 : slash + 1)) == 0) return {};
  const int code = errno;
  return fail(code, "{}: {}", path, errno_text(code));
}

Status write_once(int fd, const std::string& path, std::string_view text) {
  const ssize_t done = ::write(fd, text.data(), text.size());
  if (done < 0) {
    const int code = errno;
    return fail(code, "{}={}: {}", path, text, errno_text(code));
  }
  if (static_cast<std::size_t>(done) != text.size())
    return fail(EIO, "{}={}: short write", path, text);
  return {};
}

}  // namespace

std::string errno_text(int code) {
  char buffer[128];
  return ::strerror_r(code, buffer, sizeof buffer);  // the GNU variant
}

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBuffer = 8 * kPage;
/// No line of a kernel's file that is read so is longer: a path and what stands beside it.
constexpr std::size_t kLongestLine = 1024;

/// `kernel_again`: from its beginning, whatever was read of it before.
enum class Source : unsigned char { any, kernel, kernel_again };

/// The kernel fills at most a page at a time, and ends a read before a line that does not fit any
/// more: one that has left room for any line was the last. So was one that has brought what is
/// expected of a regular file. What is read comes by way of the stack: most files are small, and
/// who asks keeps many of them.
Result<std::string> read_to_end(int fd, std::size_t max_bytes, Source source,
                                std::size_t expected = 0) {
  const bool kernel = source != Source::any;
  const bool again = source == Source::kernel_again;
  std::array<char, kBuffer> buffer;
  const auto room = kernel ? kPage : buffer.size();
  std::string text;
  for (bool more = true; more;) {
    const ssize_t got = again ? ::pread(fd, buffer.data(), room, static_cast<off_t>(text.size()))
                              : ::read(fd, buffer.data(), room);
    if (got < 0) {
      const int code = errno;
      if (code == EINTR) continue;
      return fail(code, "read: {}", errno_text(code));
    }
    const auto count = static_cast<std::size_t>(got);
    text.append(buffer.data(), count);
    if (text.size() > max_bytes) return fail(EFBIG, "larger than {} bytes", max_bytes);
    more = count != 0 && (kernel ? count + kLongestLine > room : text.size() != expected);
  }
  return text;
}

}  // namespace

Result<std::string> read_all(int fd, std::size_t max_bytes) {
  return read_to_end(fd, max_bytes, Source::any);
}

Result<std::string> read_kernel_again(int fd) {
  return read_to_end(fd, Dir::kDefaultMax, Source::kernel_again);
}

namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Whatever else can be opened may block, never end, or look like an empty file.
Result<std::string> read_regular(int fd, const std::string& path, std::size_t max_bytes) {
  struct stat st{};
  if (::fstat(fd, &st) != 0) {
    const int code = errno;
    return fail(code, "{}: {}", path, errno_text(code));
  }
  if (!S_ISREG(st.st_mode))
    return fail(S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "{}: is {}, not a regular file", path,
                kind_of(st.st_mode));
  auto text = read_to_end(fd, max_bytes, Source::any, static_cast<std::size_t>(st.st_size));
  if (!text) return forward(text.error(), path);
  return text;
}

}  // namespace

Result<std::string> read_path(const std::string& absolute_path) {
  const Fd fd(::open(absolute_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int code = errno;
    return fail(code, "{}: {}", absolute_path, errno_text(code));
  }
  return read_regular(fd.get(), absolute_path, Dir::kDefaultMax);
}

Result<Dir> Dir::open(const std::string& absolute_path) {
  Fd fd(::open(absolute_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const int code = errno;
    return fail(code, "{}: {}", absolute_path, errno_text(code));
  }
  return Dir(std::move(fd));
}

Result<Dir> Dir::dir(const std::string& path) const {
  auto fd = open_beneath(fd_.get(), path, O_RDONLY | O_DIRECTORY);
  if (!fd) return forward(fd.error());
  return Dir(std::move(*fd));
}

Result<Fd> Dir::file(const std::string& path, int flags) const {
  return open_beneath(fd_.get(), path, flags);
}

Result<std::string> Dir::read(const std::string& path, std::size_t max_bytes) const {
  auto fd = open_beneath(fd_.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return forward(fd.error());
  return read_regular(fd->get(), path, max_bytes);
}

Result<std::string> Dir::read_kernel(const std::string& path, std::size_t max_bytes) const {
  auto fd = open_beneath(fd_.get(), path, O_RDONLY);
  if (!fd) return forward(fd.error());
  auto text = read_to_end(fd->get(), max_bytes, Source::kernel);
  if (!text) return forward(text.error(), path);
  return text;
}

Status Dir::write(const std::string& path, std::string_view text) const {
  auto fd = open_beneath(fd_.get(), path, O_WRONLY);
  if (!fd) return forward(fd.error());
  return write_once(fd->get(), path, text);
}

Status Dir::replace(const std::string& path, std::string_view text) const {
  const std::string temporary = path + ".new";
  auto fd = open_beneath(fd_.get(), temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!fd) return forward(fd.error());
  if (auto done = write_once(fd->get(), temporary, text); !done) return done;
  return in_parent(fd_.get(), path, [](int dir, const char* name) {
    return ::renameat(dir, (std::string(name) + ".new").c_str(), dir, name);
  });
}

Status Dir::make(const std::string& path) const {
  return in_parent(fd_.get(), path,
                   [](int dir, const char* name) { return ::mkdirat(dir, name, 0755); });
}

Status Dir::remove_dir(const std::string& path) const {
  return in_parent(fd_.get(), path,
                   [](int dir, const char* name) { return ::unlinkat(dir, name, AT_REMOVEDIR); });
}

Status Dir::remove_file(const std::string& path) const {
  return in_parent(fd_.get(), path,
                   [](int dir, const char* name) { return ::unlinkat(dir, name, 0); });
}

Result<std::vector<DirEntry>> Dir::list() const {
  std::vector<DirEntry> entries;
  const auto listed = for_each([&entries](std::string_view name, bool directory) {
    entries.push_back({std::string(name), directory});
  });
  if (!listed) return forward(listed.error());
  return entries;
}

Status Dir::for_each(const Each& each) const {
  alignas(dirent64) std::array<char, kBuffer> buffer;
  const bool again = !std::exchange(listed_, true) || ::lseek(fd_.get(), 0, SEEK_SET) == 0;
  for (;;) {
    const ssize_t got = again ? ::getdents64(fd_.get(), buffer.data(), buffer.size()) : -1;
    if (got < 0) {
      const int code = errno;
      return fail(code, "list: {}", errno_text(code));
    }
    if (got == 0) return {};
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") each(name, entry->d_type == DT_DIR);
    }
  }
}

Result<FileStamp> Dir::stamp(const std::string& path) const {
  struct stat st{};
  const bool direct = path.find('/') == std::string::npos && path != "..";
  // A link is followed by nobody here; the rest says what is wrong with it.
  if (direct) {
    const bool found = ::fstatat(fd_.get(), path.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (found && !S_ISLNK(st.st_mode)) return stamp_of(st);
    if (!found && errno == ENOENT) return fail(ENOENT, "{}: {}", path, errno_text(ENOENT));
  }
  auto fd = open_beneath(fd_.get(), path, O_PATH);
  if (!fd) return forward(fd.error());
  return Dir(std::move(*fd)).stamp();
}

Result<FileStamp> Dir::stamp() const {
  struct stat st{};
  if (::fstat(fd_.get(), &st) == 0) return stamp_of(st);
  const int code = errno;
  return fail(code, "stat: {}", errno_text(code));
}

}  // namespace kcg
