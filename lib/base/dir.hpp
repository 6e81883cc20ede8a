// SPDX-License-Identifier: Apache-2.0
//
// A pinned directory as a capability (L0): everything is reached beneath it with
// openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS). A path that would leave
// the directory, or that crosses a link, fails with the kernel's errno (EXDEV, ELOOP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace kcg {

/// Value: which file this is and whether its content changed.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t size = 0;
  bool operator==(const FileStamp&) const = default;
};

/// Value: one directory entry.
struct DirEntry {
  std::string name;
  bool directory = false;
};

/// Resource: an open directory. All paths are relative to it, without a leading '/'.
class Dir final {
 public:
  /// Opens by absolute path; symbolic links on the way are followed (the path is the operator's).
  [[nodiscard]] static Result<Dir> open(const std::string& absolute_path);
  explicit Dir(Fd fd) : fd_(std::move(fd)) {}

  [[nodiscard]] Result<Dir> dir(const std::string& path) const;
  /// `flags` as for open(2); O_CLOEXEC is added.
  [[nodiscard]] Result<Fd> file(const std::string& path, int flags) const;
  /// Reads a regular file to EOF. More than `max_bytes` is EFBIG; a directory EISDIR, a FIFO, a
  /// socket or a device EINVAL, and nothing is waited for.
  [[nodiscard]] Result<std::string> read(const std::string& path,
                                         std::size_t max_bytes = kDefaultMax) const;
  /// The same of a file of procfs, cgroupfs or another one of the kernel's own, where nobody can
  /// put anything else: without asking what it is, and with one read(2) where it fits.
  [[nodiscard]] Result<std::string> read_kernel(const std::string& path,
                                                std::size_t max_bytes = kDefaultMax) const;
  /// One write(2) of the whole text into an existing file.
  [[nodiscard]] Status write(const std::string& path, std::string_view text) const;
  /// Creates or replaces a file atomically (temporary file, then rename).
  [[nodiscard]] Status replace(const std::string& path, std::string_view text) const;
  [[nodiscard]] Status make(const std::string& path) const;
  [[nodiscard]] Status remove_dir(const std::string& path) const;
  [[nodiscard]] Status remove_file(const std::string& path) const;
  /// From its beginning, by the offset of the descriptor: not for two threads at once.
  [[nodiscard]] Result<std::vector<DirEntry>> list() const;
  /// As list(), of directories with many entries of which few matter. `name` is good for the call.
  using Each = std::function<void(std::string_view name, bool directory)>;
  [[nodiscard]] Status for_each(const Each& each) const;
  [[nodiscard]] Result<FileStamp> stamp(const std::string& path) const;
  /// Stamp of the directory itself.
  [[nodiscard]] Result<FileStamp> stamp() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

  static constexpr std::size_t kDefaultMax = std::size_t{1} << 20;

 private:
  Fd fd_;
  mutable bool listed_ = false;  ///< the next listing begins anew
};

/// Reads an open file to EOF from where it stands (debugfs's attributes cannot seek). More than
/// `max_bytes` is EFBIG.
[[nodiscard]] Result<std::string> read_all(int fd, std::size_t max_bytes);

/// Reads an open file of the kernel's own, which can seek, from its beginning, as it is now; as
/// Dir::read_kernel.
[[nodiscard]] Result<std::string> read_kernel_again(int fd);

/// Reads an operator's file by absolute path; links are followed. Otherwise as Dir::read; more than
/// 1 MiB is EFBIG.
[[nodiscard]] Result<std::string> read_path(const std::string& absolute_path);

}  // namespace kcg
