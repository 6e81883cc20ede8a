// SPDX-License-Identifier: Apache-2.0
#include "support/live/node.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

#include "support/live/kernel.hpp"
#include "support/live/must.hpp"

namespace kcg::live {

namespace {

constexpr const char* kDebugfs = "/sys/kernel/debug";
/// In memory, as a node's /run is.
constexpr const char* kRunRoots = "/dev/shm";

/// Waits for other live tests on this machine, whoever runs them.
Fd take_lock() {
  Fd fd(::open("/tmp/kcg-live.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd || ::flock(fd.get(), LOCK_EX) != 0)
    throw std::runtime_error("/tmp/kcg-live.lock: " + errno_text(errno));
  return fd;
}

/// A test that was killed leaves its file systems mounted, and their servers have ended.
void unmount_below(const std::string& prefix) {
  const std::unique_ptr<FILE, int (*)(FILE*)> table(::setmntent("/proc/self/mounts", "r"),
                                                    ::endmntent);
  if (!table) throw std::runtime_error("/proc/self/mounts: " + errno_text(errno));
  std::vector<std::string> mounted;
  while (const auto* const mount = ::getmntent(table.get()))
    if (std::string(mount->mnt_dir).rfind(prefix, 0) == 0) mounted.emplace_back(mount->mnt_dir);
  for (auto directory = mounted.rbegin(); directory != mounted.rend(); ++directory)
    if (::umount2(directory->c_str(), MNT_DETACH) != 0)
      throw std::runtime_error("umount " + *directory + ": " + errno_text(errno));
}

void remove_old_run_roots() {
  const auto prefix = fmt::format("{}/{}", kRunRoots, kCornerPrefix);
  unmount_below(prefix);
  for (const auto& entry : std::filesystem::directory_iterator(kRunRoots))
    if (entry.path().string().rfind(prefix, 0) == 0) std::filesystem::remove_all(entry.path());
}

std::string make_run_root(const std::string& top) {
  remove_old_run_roots();
  const auto root = kRunRoots + top;
  std::filesystem::create_directories(root + "/run");
  return root;
}

bool mount_debugfs() {
  struct statfs now = {};
  if (::statfs(kDebugfs, &now) == 0 && now.f_type == DEBUGFS_MAGIC) return false;
  if (::mount("none", kDebugfs, "debugfs", 0, nullptr) == 0) return true;
  throw std::runtime_error(std::string("mount ") + kDebugfs + ": " + errno_text(errno));
}

}  // namespace

Node::Node(Tree tree) : lock_(take_lock()) {
  remove_old_corners();
  corner_ = std::make_unique<Corner>(tree);
  run_root_ = make_run_root(corner_->top());
  unmount_debugfs_ = mount_debugfs();
}

Node::~Node() {
  corner_.reset();
  std::error_code failed;
  std::filesystem::remove_all(run_root_, failed);
  if (failed)
    std::fprintf(stderr, "live: %s stays: %s\n", run_root_.c_str(), failed.message().c_str());
  if (unmount_debugfs_) (void)::umount2(kDebugfs, MNT_DETACH);  // ignored: it was we who mounted it
}

std::unique_ptr<Sandbox> Node::sandbox(SandboxSpec spec) const {
  return std::make_unique<Sandbox>(*corner_, run_root_, std::move(spec));
}

std::unique_ptr<Daemon> Node::daemon(DaemonSpec spec) const {
  return std::make_unique<Daemon>(corner_->tree(), run_root_, std::move(spec));
}

std::string missing_for_live_tests(Tree tree) {
  if (::geteuid() != 0) return "root";
  const auto* const version = tree == Tree::v1 ? "v1" : "v2";
  if (!standin::find_mounts(version)) return fmt::format("a mounted cgroup {} tree", version);
  if (!exists("/usr/bin/qemu-system-x86_64")) return "qemu-system-x86_64";
  return {};
}

}  // namespace kcg::live
