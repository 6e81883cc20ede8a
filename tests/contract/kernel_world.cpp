// SPDX-License-Identifier: Apache-2.0
//
// The contract on the machine's own mounts. All groups stand below one directory per test process,
// named after it; all processes are children of it.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "cgroup/kernel_tree.hpp"
#include "contract/world.hpp"
#include "kernel/mountinfo.hpp"
#include "kernel/proc_cgroup.hpp"
#include "proc/kernel_proc.hpp"
#include "support/device_program.hpp"

namespace kcg::test {

namespace {

constexpr std::string_view kPrefix = "kcg-contract-";

/// In the child: starts the threads, reports all tids, waits for its end.
[[noreturn]] void serve(int report, unsigned threads) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ignored: only a second guard
  (void)::prctl(PR_SET_NAME, "contract");    // ignored: cannot fail
  const auto tell = [report] {
    const Pid tid = ::gettid();
    if (::write(report, &tid, sizeof tid) != sizeof tid) ::_exit(1);
  };
  tell();
  for (unsigned i = 1; i < threads; ++i)
    std::thread([tell] {
      tell();
      for (;;) (void)::pause();
    }).detach();
  for (;;) (void)::pause();
}

std::string slurp(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_all(fd.get(), Dir::kDefaultMax).value_or("") : "";
}

class KernelWorld final : public World {
 public:
  explicit KernelWorld(const Host& host)
      : base_(CgroupPath::parse(fmt::format("/{}{}", kPrefix, ::getpid())).value()) {
    auto tree = KernelTree::open(host);
    if (!tree) throw std::runtime_error(tree.error().text);
    tree_ = std::move(*tree);
    remove_leftovers();
    for (const auto& hierarchy : host.hierarchies)
      if (auto made = tree_->make({hierarchy.name, base_}); !made)
        throw std::runtime_error(made.error().text);
  }
  ~KernelWorld() override {
    while (!processes_.empty()) end({*processes_.begin(), {}});
    for (const auto& hierarchy : tree_->host().hierarchies) remove({hierarchy.name, base_});
  }
  KernelWorld(const KernelWorld&) = delete;
  KernelWorld& operator=(const KernelWorld&) = delete;

  CgroupTree& tree() override { return *tree_; }
  ProcView& proc() override { return *proc_; }
  Pid parent() const override { return ::getpid(); }

  TestProcess spawn(unsigned threads) override {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const Pid pid = ::fork();
    if (pid == 0) serve(to.get(), threads);
    to.reset();
    processes_.insert(pid);
    TestProcess process{pid, {}};
    for (unsigned i = 0; i < threads; ++i) {
      Pid tid = 0;
      if (::read(from.get(), &tid, sizeof tid) != sizeof tid)
        throw std::runtime_error("the child did not report its threads");
      process.tids.push_back(tid);
    }
    return process;
  }

  void end(const TestProcess& process) override {
    (void)::kill(process.pid, SIGKILL);        // ignored: it may have ended
    (void)::waitpid(process.pid, nullptr, 0);  // ignored: the same
    processes_.erase(process.pid);
  }

  std::uint32_t load_device_program() override {
    return program_id(programs_.emplace_back(test::load_device_program(1, 8)));
  }

  void set_earlier_mark(const GroupRef& group, const std::string& value) override {
    const auto path = directory(group);
    (void)::removexattr(path.c_str(), "trusted.kata-cgroupd");  // ignored: there may be none
    if (::setxattr(path.c_str(), "user.kata-cgroupd", value.data(), value.size(), 0) != 0)
      throw std::runtime_error("setxattr " + path);
  }

  void outside(const std::function<void(CgroupTree&)>& act) override {
    const auto other = KernelTree::open(tree_->host());
    if (!other) throw std::runtime_error(other.error().text);
    act(**other);
  }

  void give_away(const GroupRef& group) override {
    if (::chown(directory(group).c_str(), 65534, 65534) != 0)
      throw std::runtime_error("chown " + directory(group));
  }

  std::string group_of(Pid tid, std::string_view hierarchy) override {
    const auto text = slurp(fmt::format("/proc/{}/cgroup", tid));
    const auto groups = groups_for(tree_->host(), text);
    const auto& all = tree_->host().hierarchies;
    for (std::size_t i = 0; groups && i < all.size(); ++i)
      if (all[i].name == hierarchy) return groups->at(i);
    return "";
  }

  CgroupPath base() const override { return base_; }

 private:
  /// Of runs that were killed: their process exists no more.
  void remove_leftovers() {
    for (const auto& hierarchy : tree_->host().hierarchies)
      for (const auto& name :
           tree_->children({hierarchy.name, {}}).value_or(std::vector<std::string>{})) {
        const auto pid =
            name.starts_with(kPrefix) ? parse_pid(name.substr(kPrefix.size())) : std::nullopt;
        if (pid && ::kill(*pid, 0) != 0) remove({hierarchy.name, CgroupPath().child(name).value()});
      }
  }

  [[nodiscard]] std::string directory(const GroupRef& group) const {
    return tree_->host().find(group.hierarchy)->mount_point + std::string(group.path.str());
  }

  void remove(const GroupRef& group) {
    for (const auto& name : tree_->children(group).value_or(std::vector<std::string>{}))
      remove({group.hierarchy, group.path.child(name).value()});
    (void)tree_->remove(group);  // ignored: the next run's test would fail on what stays
  }

  CgroupPath base_;
  std::unique_ptr<KernelTree> tree_;
  std::unique_ptr<KernelProc> proc_ = KernelProc::open().value();
  std::set<Pid> processes_;
  std::vector<Fd> programs_;
};

}  // namespace

std::unique_ptr<World> make_kernel_world(const Host& host) {
  return std::make_unique<KernelWorld>(host);
}

Host machine_host(bool unified) {
  static const std::set<std::string> managed = {"cpu", "cpuacct", "cpuset", "memory", "pids"};
  Host host{unified ? HierarchyMode::v2 : HierarchyMode::v1, {}, 4096, 1, false};
  host.page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  host.online_cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  const auto mounts = parse_mountinfo(slurp("/proc/self/mountinfo"));
  for (const auto& mount : mounts.value_or(std::vector<Mount>{})) {
    Hierarchy hierarchy{"v2", {}, unified, mount.mount_point};
    if (mount.root != "/" || mount.fs_type != (unified ? "cgroup2" : "cgroup")) continue;
    const std::string offered = slurp(mount.mount_point + "/cgroup.subtree_control");
    for (const auto word : words(offered)) hierarchy.controllers.emplace_back(word);
    for (const auto& option : mount.super_options)
      if (!unified && managed.contains(option)) hierarchy.controllers.push_back(option);
    if (!unified && hierarchy.controllers.empty()) continue;
    if (!unified) hierarchy.name = join(hierarchy.controllers, ",");
    host.hierarchies.push_back(hierarchy);
  }
  return host;
}

}  // namespace kcg::test
