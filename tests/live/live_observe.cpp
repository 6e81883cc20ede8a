// SPDX-License-Identifier: Apache-2.0
//
// Observe mode writes nothing, at all: strace is the witness for every way to change a cgroup tree.
// The same run in enforce mode proves that the witness sees what it must.
#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

class LiveObserve : public LiveTest {
 protected:
  [[nodiscard]] std::string trace_file() const { return node_->run_root() + "/strace"; }
  [[nodiscard]] DaemonSpec traced(std::vector<std::string> arguments) const {
    return {.arguments = std::move(arguments),
            .wrapper = {"/usr/bin/env", leaks_unasked(), "/usr/bin/strace", "-D", "-f", "-y", "-qq",
                        "-s", "256", "-o", trace_file(), "-e",
                        "trace=write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,"
                        "splice,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,"
                        "setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,"
                        "open,openat,openat2,creat,chmod,fchmod,fchmodat,chown,fchown,fchownat,"
                        "ftruncate,truncate,kill,tgkill,tkill,pidfd_send_signal,ptrace,bpf"}};
  }
  /// A sanitizer looks for leaks by ptrace(2), which nobody can do to who is traced already.
  [[nodiscard]] static std::string leaks_unasked() {
    const char* const options = std::getenv("ASAN_OPTIONS");
    return fmt::format("ASAN_OPTIONS={}:detect_leaks=0", options == nullptr ? "" : options);
  }
  /// Lines of the trace that change, or open for writing, something in a cgroup tree.
  [[nodiscard]] std::string writes() const {
    std::string found;
    const auto text = slurp(trace_file());
    for (const auto line : lines(text)) {
      if (line.find("/sys/fs/cgroup") == std::string_view::npos) continue;
      if (line.find("bpf(BPF_PROG_QUERY") != std::string_view::npos) continue;  // only asks
      if (line.substr(0, line.find(',')).find("<pipe:[") != std::string_view::npos) continue;
      const bool opens = line.find("open") != std::string_view::npos;
      const bool for_writing = line.find("O_WRONLY") != std::string_view::npos ||
                               line.find("O_RDWR") != std::string_view::npos ||
                               line.find("O_CREAT") != std::string_view::npos ||
                               line.find("O_TRUNC") != std::string_view::npos;
      if (!opens || for_writing) found.append(line).append("\n");
    }
    return found;
  }
  /// The life of a sandbox with everything that a daemon would react to.
  void live_a_life() const {
    const auto sandbox =
        node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}, {"MAX_VCPUS", "3"}}});
    sandbox->start();
    EXPECT_EQ(sandbox->truth().vcpus.size(), 2U);
    sandbox->ask("hotplug");
    sandbox->ask("pullback-vcpus");
    sandbox->ask("pullback-vmm");
    if (v1()) sandbox->ask("cpuset 0");
    sandbox->end();
  }
  /// The daemon has seen a life when its log says so, at the latest when it ended.
  void end_daemon() const {
    EXPECT_EQ(daemon_->terminate(), 0);
    EXPECT_TRUE(wait_until([&] { return !slurp(trace_file()).empty(); }));
  }
};

TEST_P(LiveObserve, NotOneWrite) {
  start_daemon(traced({"--observe"}));
  live_a_life();
  const auto witness = node_->sandbox();
  witness->start();
  const auto before = threads_of(witness->truth().vmm);
  EXPECT_TRUE(node_->corner().find("kata-sandbox-").empty());
  end_daemon();
  EXPECT_EQ(writes(), "");
  EXPECT_TRUE(node_->corner().find("kata-sandbox-").empty());
  const auto after = threads_of(witness->truth().vmm);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].groups, after[i].groups);
}

TEST_P(LiveObserve, TheWitnessSeesAnEnforcingDaemon) {
  start_daemon(traced({}));
  const auto sandbox = node_->sandbox();
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  end_daemon();
  const auto seen = writes();
  for (const char* const call : {"mkdirat(", "setxattr(", "write("})
    EXPECT_NE(seen.find(call), std::string::npos) << call << "\n" << seen;
}

TEST_P(LiveObserve, WritesOnlyWhereItMay) {
  start_daemon(traced({}));
  const auto sandbox = node_->sandbox({.vcpus = 2, .standin = {{"HELPER", "1"}}});
  sandbox->start();
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->ask("pullback-vmm");
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
  end_daemon();
  const auto allowed = "kata-sandbox-" + sandbox->id();
  const auto seen = writes();
  for (const auto line : lines(seen)) {
    const bool enables = line.find("cgroup.subtree_control") != std::string_view::npos &&
                         line.find(sandbox->pod_group()) != std::string_view::npos;
    EXPECT_TRUE(enables || line.find(allowed) != std::string_view::npos) << line;
  }
}

KCG_ON_BOTH_TREES(LiveObserve);

}  // namespace
}  // namespace kcg::live
