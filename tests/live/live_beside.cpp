// SPDX-License-Identifier: Apache-2.0
//
// The life of a pod beside Kata and the engine, as a real node showed it: containers one after the
// other, crash loops, pinning, boot memory, ends in every order, an id that returns. No call of
// Kata's fails, every limit is right at once, and nobody is told anything.
#include <sys/inotify.h>
#include <unistd.h>

#include <array>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

class LiveBeside : public LiveTest {
 protected:
  [[nodiscard]] std::string vcpu_quota_file(const Sandbox& sandbox) const {
    return node_->corner().directory(sandbox.group() + "/vcpu") + "/cpu.cfs_quota_us";
  }
  /// "" when it becomes so, else what it is.
  [[nodiscard]] std::string quota_becomes(const Sandbox& sandbox, std::int64_t wanted) const {
    const auto file = vcpu_quota_file(sandbox);
    const auto text = std::to_string(wanted);
    return wait_until([&] { return slurp_line(file) == text; }) ? "" : slurp_line(file);
  }
};

/// What Kata and the kubelet do to limits and cpusets: the cgroup2 tree beside v1 has no such
/// controllers. On a v2 of its own the node of the end-to-end tests shows it.
class LiveBesideV1 : public LiveBeside {};

TEST_P(LiveBesideV1, ContainersInARow) {
  start_daemon();
  const auto sandbox = placed();
  for (int number = 1; number <= 10; ++number) {
    sandbox->run_container({.id = "c" + std::to_string(number), .cpu_quota = 20'000});
    ASSERT_EQ(quota_becomes(*sandbox, number * 20'000), "") << number;
  }
  for (int number = 10; number > 1; --number) {
    sandbox->end_container("c" + std::to_string(number));
    ASSERT_EQ(quota_becomes(*sandbox, (number - 1) * 20'000), "") << number;
  }
  EXPECT_EQ(daemon_->standing_complaints(), "");
  EXPECT_EQ(daemon_->log().find("Contested"), std::string::npos);
}

TEST_P(LiveBesideV1, ACrashLoop) {
  start_daemon();
  const auto sandbox = placed();
  sandbox->run_container({.id = "steady", .cpu_quota = 30'000});
  for (int attempt = 0; attempt < 12; ++attempt) {
    const auto id = "crashing" + std::to_string(attempt);
    sandbox->run_container({.id = id, .cpu_quota = 50'000});
    ASSERT_EQ(quota_becomes(*sandbox, 80'000), "") << attempt;
    sandbox->end_container(id);
    ASSERT_EQ(quota_becomes(*sandbox, 30'000), "") << attempt;
  }
  EXPECT_EQ(daemon_->standing_complaints(), "");
  EXPECT_EQ(daemon_->log().find("Contested"), std::string::npos);
}

/// Resource: counts how often somebody writes to a file. The kernel takes events that nobody has
/// read together, so it is asked again and again.
class Writes final {
 public:
  explicit Writes(const std::string& path)
      : path_(path), fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (::inotify_add_watch(fd_.get(), path.c_str(), IN_MODIFY) < 0)
      throw std::runtime_error(path + ": " + errno_text(errno));
  }
  [[nodiscard]] int count() {
    std::array<char, 4096> buffer;
    for (ssize_t got; (got = ::read(fd_.get(), buffer.data(), buffer.size())) > 0;)
      count_ += static_cast<int>(static_cast<std::size_t>(got) / sizeof(inotify_event));
    return count_;
  }
  [[nodiscard]] bool until(const std::string& wanted) {
    return wait_until([&] { return count() >= 0 && slurp_line(path_) == wanted; });
  }

 private:
  std::string path_;
  Fd fd_;
  int count_ = 0;
};

TEST_P(LiveBesideV1, OneExitIsOneWrite) {
  start_daemon();
  const auto sandbox = placed();
  sandbox->run_container({.id = "steady", .cpu_quota = 30'000});
  sandbox->run_container({.id = "leaving", .cpu_quota = 50'000});
  ASSERT_EQ(quota_becomes(*sandbox, 80'000), "");
  Writes writes(vcpu_quota_file(*sandbox));
  sandbox->ask("stop leaving");
  ASSERT_TRUE(writes.until("30000"));
  // Each step is followed by a change that must be seen later than the step itself.
  sandbox->ask("delete leaving");
  sandbox->ask("update steady quota=31000");
  ASSERT_TRUE(writes.until("31000")) << "it counts no more, bundle or not";
  remove_bundle(node_->run_root(), "leaving");
  sandbox->ask("update steady quota=32000");
  ASSERT_TRUE(writes.until("32000"));
  EXPECT_EQ(writes.count(), 3) << "one for the exit, two for the updates";
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

TEST_P(LiveBesideV1, NoCallFailsWithPinning) {
  start_daemon();
  const auto sandbox = placed({.standin = {{"PINNING", "1"}, {"MAX_VCPUS", "2"}}});
  sandbox->run_container({.id = "one", .cpus = "0"});
  sandbox->ask("hotplug");
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->run_container({.id = "two", .cpus = "1"});
  const auto change = [&](const std::string& when) {
    for (int round = 0; round < 50; ++round) {
      EXPECT_NO_THROW(sandbox->ask("update two cpus=0")) << when << round;
      if (round % 5 == 0) {
        EXPECT_EQ(settle(*sandbox), "") << "the daemon follows, or has no need to";
      }
      EXPECT_NO_THROW(sandbox->ask("update two cpus=1")) << when << round;
    }
  };
  change("while the daemon runs, ");
  EXPECT_NO_THROW(sandbox->ask("update two cpus=0"));
  EXPECT_EQ(settle(*sandbox), "");
  EXPECT_EQ(daemon_->terminate(), 0);
  change("while it is stopped, ");
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

TEST_P(LiveBesideV1, BootMemoryMayBeUsed) {
  start_daemon();
  const auto sandbox =
      placed({.standin = {{"MEMORY_MIB", "256"}, {"GUEST", "touch"}},
              .annotations = {{"io.katacontainers.config.hypervisor.memory_overhead", "64"},
                              {"io.katacontainers.config.hypervisor.default_memory", "256"},
                              {"io.kubernetes.cri.sandbox-memory", std::to_string(16 * kMib)}}});
  const auto directory = node_->corner().directory(sandbox->group(), "memory");
  const auto limit = [&] { return slurp_line(directory + "/memory.limit_in_bytes"); };
  const auto wanted = std::to_string((256 + 16 + 64) * kMib);
  EXPECT_TRUE(wait_until([&] { return limit() == wanted; })) << limit();
  const auto vmm = sandbox->truth().vmm;
  const auto touched = [&] {
    const auto statm = slurp_line("/proc/" + std::to_string(vmm) + "/statm");
    return statm.empty() || parse_u64(words(statm)[1]).value_or(0) > 250 * 256;
  };
  EXPECT_TRUE(wait_until(touched));
  EXPECT_TRUE(alive(vmm));
  EXPECT_EQ(daemon_->complaints(), "");
}

TEST_P(LiveBeside, EndsInEveryOrder) {
  start_daemon();
  for (const char* const order : {"vmm leave groups state", "state vmm leave groups",
                                  "vmm state leave groups", "leave vmm groups state"}) {
    for (const bool bundle_first : {false, true}) {
      SCOPED_TRACE(std::string(order) + (bundle_first ? ", the bundle first" : ""));
      const auto sandbox = placed({.id = "again"});
      if (bundle_first) sandbox->remove_files();
      sandbox->ask(std::string("end ") + order);
      sandbox->shim().signal(SIGTERM);
      (void)sandbox->shim().wait(kPatience);  // ignored: an end, however it went
      sandbox->remove_files();
      EXPECT_EQ(gone(*sandbox), "");
      ASSERT_FALSE(daemon_->ended());
    }
  }
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

TEST_P(LiveBeside, AnIdReturns) {
  start_daemon();
  const auto sandbox = placed();
  for (int life = 0; life < 5; ++life) {
    sandbox->end();
    if (life % 2 == 1) {
      EXPECT_EQ(gone(*sandbox), "");  // else it returns while its old life is being removed
    }
    sandbox->write_files();
    sandbox->start();
    EXPECT_EQ(settle(*sandbox), "") << life;
    ASSERT_FALSE(daemon_->ended());
  }
  EXPECT_EQ(daemon_->standing_complaints(), "");
}

KCG_ON_BOTH_TREES(LiveBeside);
KCG_ON_TREE(LiveBesideV1, v1);

}  // namespace
}  // namespace kcg::live
