// SPDX-License-Identifier: Apache-2.0
//
// On a real file system: what openat2 refuses is the point.
#include "base/dir.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kcg {
namespace {

namespace fs = std::filesystem;

class DirTest : public testing::Test {
 protected:
  DirTest() {
    std::string pattern = testing::TempDir() + "dir-test-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
    fs::create_directories(root_ / "in/sub");
    put("secret", "outside");
    put("in/file", "inside");
    put("in/sub/file", "deep");
    fs::create_symlink("../secret", root_ / "in/up");
    fs::create_symlink("file", root_ / "in/link");
    fs::create_symlink("..", root_ / "in/parent");
  }
  ~DirTest() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return read_path(root_ / path).value_or("(none)");
  }
  [[nodiscard]] Dir in() const { return Dir::open(root_ / "in").value(); }
  fs::path root_;
};

TEST_F(DirTest, ReadsBeneath) {
  EXPECT_EQ(in().read("file"), "inside");
  EXPECT_EQ(in().read("sub/file"), "deep");
  EXPECT_EQ(in().dir("sub")->read("file"), "deep");
  EXPECT_EQ(in().read("sub/../file"), "inside") << "'..' may not leave, but may be used";
}

TEST_F(DirTest, AnOpenFileOfTheKernelsIsReadAsItIsNow) {
  const auto name = [file = Fd(::open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC))] {
    return read_kernel_again(file.get()).value();
  };
  const auto before = name();
  ASSERT_EQ(::prctl(PR_SET_NAME, "another"), 0);
  EXPECT_EQ(name(), "another\n");
  EXPECT_EQ(name(), "another\n");
  (void)::prctl(PR_SET_NAME, before.substr(0, before.size() - 1).c_str());  // ignored: ours alone
  const auto status = [file = Fd(::open("/proc/self/status", O_RDONLY | O_CLOEXEC))] {
    return read_kernel_again(file.get()).value();
  };
  EXPECT_EQ(status().substr(0, 5), "Name:");
  EXPECT_EQ(status().substr(0, 5), "Name:");
}

TEST_F(DirTest, NothingLeadsOut) {
  const struct {
    const char* path;
    int code;
  } rows[] = {
      {"../secret", EXDEV},      {"sub/../../secret", EXDEV},
      {"/etc/hostname", EXDEV},  {"up", ELOOP},
      {"link", ELOOP},           {"parent/secret", ELOOP},
      {"parent/in/file", ELOOP}, {"absent", ENOENT},
      {"file/x", ENOTDIR},       {"sub", EISDIR},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path);
    const auto text = in().read(row.path);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, row.code) << text.error().text;
    EXPECT_NE(text.error().text.find(row.path), std::string::npos);
  }
  for (const char* path : {"..", "../secret", "link", "up"}) EXPECT_FALSE(in().stamp(path)) << path;
}

TEST_F(DirTest, WritersStayInsideToo) {
  for (const char* path : {"../new", "parent/new", "up", "/new"}) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(in().write(path, "x"));
  }
  for (const char* path : {"../new", "parent/new", "/new", "..", "."}) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(in().make(path));
    EXPECT_FALSE(in().remove_dir(path));
    EXPECT_FALSE(in().remove_file(path));
    EXPECT_FALSE(in().replace(path, "x"));
  }
  EXPECT_TRUE(in().replace("up", "x")) << "takes the link's place";
  EXPECT_FALSE(fs::exists(root_ / "new"));
  EXPECT_FALSE(in().remove_file("../secret"));
  EXPECT_FALSE(in().remove_file("parent/secret"));
  EXPECT_EQ(get("secret"), "outside");
}

TEST_F(DirTest, WriteNeedsAnExistingFile) {
  EXPECT_TRUE(in().write("file", "INS"));
  EXPECT_EQ(get("in/file"), "INSide") << "a control file is not truncated";
  EXPECT_EQ(in().write("new", "x").error().code, ENOENT);
}

TEST_F(DirTest, WriteErrorsNameTheValue) {
  const auto dev = Dir::open("/dev").value();
  const auto full = dev.write("full", "42");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ENOSPC);
  EXPECT_EQ(full.error().text, "full=42: No space left on device");
}

TEST_F(DirTest, ReplaceIsAtomicAndKeepsOthersOut) {
  const auto before = in().stamp("file").value();
  EXPECT_TRUE(in().replace("file", "second"));
  EXPECT_EQ(get("in/file"), "second");
  EXPECT_NE(in().stamp("file")->inode, before.inode) << "a new file took the name";
  EXPECT_TRUE(in().replace("sub/made", "x"));
  EXPECT_EQ(get("in/sub/made"), "x");
  EXPECT_EQ(fs::status(root_ / "in/file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(root_ / "in/file.new"));
  EXPECT_FALSE(in().replace("absent/file", "x"));
}

/// Left by one who was killed before he could rename it.
TEST_F(DirTest, ReplaceTakesNothingFromAnEarlierAttempt) {
  put("in/file.new", "something longer than the new text");
  EXPECT_TRUE(in().replace("file", "new"));
  EXPECT_EQ(get("in/file"), "new");
}

TEST_F(DirTest, ReadIsBounded) {
  put("in/big", std::string(10'000, 'x'));
  EXPECT_EQ(in().read("big", 10'000)->size(), 10'000U);
  EXPECT_EQ(in().read("big", 9'999).error().code, EFBIG);
  EXPECT_EQ(in().read("file", 0).error().code, EFBIG);
  put("in/empty", "");
  EXPECT_EQ(in().read("empty", 0), "");
  EXPECT_EQ(in().read_kernel("big", 10'000)->size(), 10'000U);
  EXPECT_EQ(in().read_kernel("big", 9'999).error().code, EFBIG);
  EXPECT_EQ(in().read_kernel("file", 0).error().code, EFBIG);
  EXPECT_EQ(in().read_kernel("file"), "inside");
  EXPECT_EQ(in().read_kernel("empty", 0), "");
}

/// The kernel gives a page at a time, and less than that where the next line does not fit.
TEST(ReadKernel, EndsWithTheFileAndNotWithAPage) {
  constexpr std::size_t kMappings = 2000;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const start = static_cast<char*>(
      ::mmap(nullptr, kMappings * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(start), MAP_FAILED);
  for (std::size_t i = 0; i < kMappings; i += 2)  // so that each is a line of its own
    ASSERT_EQ(::mprotect(start + i * page, page, PROT_READ), 0);
  const auto text = Dir::open("/proc/self").value().read_kernel("maps").value();
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(kMappings));
  EXPECT_EQ(::munmap(start, kMappings * page), 0);
}

TEST_F(DirTest, OnlyRegularFilesAreReadAndNobodyIsWaitedFor) {
  ASSERT_EQ(::mkfifo((root_ / "in/fifo").c_str(), 0600), 0);
  EXPECT_EQ(in().read("fifo").error(), (Error{EINVAL, "fifo: is a FIFO, not a regular file"}));
  EXPECT_EQ(in().read("sub").error(), (Error{EISDIR, "sub: is a directory, not a regular file"}));
}

TEST_F(DirTest, MakesAndRemoves) {
  EXPECT_TRUE(in().make("sub/new"));
  EXPECT_TRUE(fs::is_directory(root_ / "in/sub/new"));
  EXPECT_EQ(in().make("sub/new").error().code, EEXIST);
  EXPECT_EQ(in().make("absent/new").error().code, ENOENT);
  EXPECT_EQ(in().remove_dir("sub").error().code, ENOTEMPTY);
  EXPECT_TRUE(in().remove_dir("sub/new"));
  EXPECT_EQ(in().remove_dir("sub/new").error().code, ENOENT);
  EXPECT_TRUE(in().remove_file("link")) << "the link itself";
  EXPECT_EQ(get("in/file"), "inside");
  EXPECT_TRUE(in().remove_file("file"));
  EXPECT_EQ(in().remove_file("file").error().code, ENOENT);
}

TEST_F(DirTest, Lists) {
  auto entries = in().list().value();
  std::sort(entries.begin(), entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  ASSERT_EQ(entries.size(), 5U);
  EXPECT_EQ(entries[0].name, "file");
  EXPECT_FALSE(entries[0].directory);
  EXPECT_EQ(entries[3].name, "sub");
  EXPECT_TRUE(entries[3].directory);
  EXPECT_FALSE(entries[2].directory) << "a link to a directory is none";
  const auto pinned = in();
  EXPECT_EQ(pinned.list()->size(), pinned.list()->size()) << "the offset is not shared";
}

TEST_F(DirTest, ThePinSurvivesRenaming) {
  const auto pinned = in();
  fs::rename(root_ / "in", root_ / "moved");
  fs::create_directory(root_ / "in");
  EXPECT_EQ(pinned.read("file"), "inside");
}

TEST_F(DirTest, StampsTellChanges) {
  const auto pinned = in();
  const auto before = pinned.stamp("file").value();
  EXPECT_EQ(pinned.stamp("file"), before);
  put("in/file", "longer than before");
  EXPECT_NE(pinned.stamp("file"), before);
  EXPECT_EQ(pinned.stamp("file")->inode, before.inode);
  EXPECT_EQ(pinned.stamp("absent").error().code, ENOENT);
  EXPECT_EQ(pinned.stamp("link").error().code, ELOOP);
  EXPECT_EQ(pinned.stamp()->inode, pinned.stamp(".")->inode);
}

TEST_F(DirTest, OpenNamesThePath) {
  const auto absent = Dir::open(root_ / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ENOENT);
  EXPECT_EQ(absent.error().text, (root_ / "absent").string() + ": No such file or directory");
  EXPECT_EQ(Dir::open(root_ / "secret").error().code, ENOTDIR);
}

TEST_F(DirTest, FilesAreCloseOnExec) {
  const auto fd = in().file("file", O_RDONLY);
  ASSERT_TRUE(fd);
  EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(in().fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ReadPath, FollowsLinksAndNamesThePath) {
  EXPECT_TRUE(read_path("/proc/self/status"));
  EXPECT_EQ(read_path("/dev/null").error(),
            (Error{EINVAL, "/dev/null: is a device, not a regular file"}));
  EXPECT_EQ(read_path("/proc").error().code, EISDIR);
  const auto absent = read_path("/nowhere/x");
  EXPECT_EQ(absent.error(), (Error{ENOENT, "/nowhere/x: No such file or directory"}));
}

}  // namespace
}  // namespace kcg
