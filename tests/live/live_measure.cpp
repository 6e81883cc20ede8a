// SPDX-License-Identifier: Apache-2.0
//
// What is measured of a real guest: its memory is touched to an amount that the test knows, shared,
// private and on huge pages. v1 alone: the cgroup2 tree beside it accounts no memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "base/units.hpp"
#include "kernel/keyed.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

constexpr std::uint64_t kRam = 256 * kMib;
/// The guest writes to every page but those of the first MiB, of which its firmware reads some.
constexpr std::uint64_t kTouched = kRam - kMib;

class LiveMeasure : public LiveTest {
 protected:
  [[nodiscard]] static SandboxSpec spec(const std::string& guest, const std::string& backend = "") {
    SandboxSpec spec;
    spec.standin = {{"GUEST", guest}, {"MEMORY_MIB", std::to_string(kRam / kMib)}};
    if (!backend.empty())
      spec.standin["VMM_ARGS"] = "-object " + backend + ",id=d1,size=256M -numa node,memdev=d1";
    return spec;
  }
  [[nodiscard]] std::uint64_t counter(const Sandbox& sandbox, const char* file,
                                      const char* key = nullptr) const {
    const auto text = slurp(node_->corner().directory(sandbox.group(), "memory") + "/" + file);
    return key == nullptr ? parse_u64(trim(text)).value_or(0) : keyed_value(text, key).value_or(0);
  }
  /// What is charged beside files and what the guest is known to have touched.
  [[nodiscard]] std::uint64_t overhead(const Sandbox& sandbox, std::uint64_t guest) const {
    return counter(sandbox, "memory.usage_in_bytes") - guest -
           counter(sandbox, "memory.stat", "total_inactive_file") -
           counter(sandbox, "memory.stat", "total_active_file");
  }
  [[nodiscard]] std::optional<std::uint64_t> reported(const Sandbox& sandbox) const {
    Command command;
    command.argv = {built("tools/cgctl/cgctl"),
                    "show",
                    sandbox.id(),
                    "--json",
                    "--no-daemon",
                    "--cgroup-root",
                    "/sys/fs/cgroup",
                    "--run-root",
                    node_->run_root()};
    command.output = node_->run_root() + "/cgctl.out";
    std::filesystem::remove(command.output);
    auto child = Child::start(command);
    EXPECT_TRUE(child.wait(kPatience));
    const auto document = nlohmann::json::parse(slurp(command.output), nullptr, false);
    const auto at = nlohmann::json::json_pointer("/overhead/used_bytes");
    if (!document.is_object() || !document.contains(at)) return std::nullopt;
    return document.at(at).get<std::uint64_t>();
  }
  /// Within 5 % and 4 MiB of what the test knows. A QEMU that has just begun takes some megabytes
  /// and gives them back, between the two readings as well.
  void expect_overhead(const Sandbox& sandbox, std::uint64_t guest) const {
    std::uint64_t wanted = 0;
    std::optional<std::uint64_t> got;
    const auto agree = [&] {
      wanted = overhead(sandbox, guest);
      got = reported(sandbox);
      const auto both = std::minmax({got.value_or(0), wanted});
      return both.second - both.first <= wanted / 20 + 4 * kMib;
    };
    EXPECT_TRUE(wait_until(agree)) << got.value_or(0) << " reported, " << wanted
                                   << " known: " << slurp(node_->run_root() + "/cgctl.out");
    EXPECT_GT(got.value_or(0), 4 * kMib) << "a QEMU and a shim take more";
  }
  using Touched = std::uint64_t (*)(int vmm);
  /// Starts it, and waits until the guest has touched what it will touch.
  std::unique_ptr<Sandbox> touched(const SandboxSpec& spec, Touched bytes = most_resident) {
    start_daemon();
    auto sandbox = node_->sandbox(spec);
    sandbox->start();
    EXPECT_EQ(settle(*sandbox), "");
    const auto vmm = sandbox->truth().vmm;
    EXPECT_TRUE(wait_until([&] { return bytes(vmm) >= kTouched; }));
    return sandbox;
  }
  /// The most of a "<line>: 1234 kB" in a file of the process.
  [[nodiscard]] static std::uint64_t most(int pid, const char* file, std::string_view line) {
    const auto text = slurp(fmt::format("/proc/{}/{}", pid, file));
    std::uint64_t found = 0;
    for (const auto one : lines(text))
      if (one.starts_with(line))
        found = std::max(found, parse_u64(words(one).at(1)).value_or(0) * 1024);
    return found;
  }
  /// Of the mapping that has most: the guest's RAM.
  [[nodiscard]] static std::uint64_t most_resident(int vmm) { return most(vmm, "smaps", "Rss:"); }
  [[nodiscard]] static std::uint64_t huge_pages(int vmm) {
    return most(vmm, "status", "HugetlbPages:");
  }
};

TEST_P(LiveMeasure, OfPrivateRam) {
  const auto sandbox = touched(spec("touch"));
  expect_overhead(*sandbox, kTouched);
}

TEST_P(LiveMeasure, OfSharedRam) {
  for (const auto* backend :
       {"memory-backend-memfd,share=on", "memory-backend-file,mem-path=/dev/shm,share=on"}) {
    SCOPED_TRACE(backend);
    const auto sandbox = touched(spec("touch", backend));
    expect_overhead(*sandbox, kTouched);
  }
}

TEST_P(LiveMeasure, OfRamThatNobodyHasTouched) {
  for (const auto* backend : {"", "memory-backend-memfd,share=on"}) {
    SCOPED_TRACE(backend);
    start_daemon();
    const auto sandbox = node_->sandbox(spec("halt", backend));
    sandbox->start();
    ASSERT_EQ(settle(*sandbox), "");
    expect_overhead(*sandbox, 0);
  }
}

/// Takes huge pages for the time of a test; a machine may have no room for them.
class HugePages final {
 public:
  explicit HugePages(std::uint64_t bytes) : before_(slurp_line(kFile)) {
    (void)scribble(kFile, std::to_string(bytes / (2 * kMib)));  // ignored: enough() tells
    enough_ = parse_u64(slurp_line(kFile)).value_or(0) >= bytes / (2 * kMib);
  }
  ~HugePages() { (void)scribble(kFile, before_); }  // ignored: nothing comes after it
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  [[nodiscard]] bool enough() const { return enough_; }

 private:
  static constexpr const char* kFile = "/proc/sys/vm/nr_hugepages";
  std::string before_;
  bool enough_ = false;
};

TEST_P(LiveMeasure, OfRamOnHugePages) {
  const HugePages pages(kRam);
  if (!pages.enough()) GTEST_SKIP() << "needs " << kRam / kMib << " MiB of huge pages";
  const auto sandbox =
      touched(spec("touch", "memory-backend-memfd,hugetlb=on,share=on"), huge_pages);
  expect_overhead(*sandbox, 0);
}

TEST_P(LiveMeasure, WhoComesNearItsLimitIsToldUntilThereIsRoom) {
  constexpr std::uint64_t kLimit = (128 + 64 + 96) * kMib;  // of boot, containers and overhead
  start_daemon({.config = "[measure]\ninterval = \"1s\"\n"});
  const auto sandbox = node_->sandbox(
      {.annotations = {{"io.katacontainers.config.hypervisor.memory_overhead", "96"},
                       {"io.kubernetes.cri.sandbox-memory", std::to_string(64 * kMib)}}});
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  ASSERT_TRUE(wait_until([&] { return counter(*sandbox, "memory.limit_in_bytes") == kLimit; }));
  // Whoever reads a file first is charged for it, and it does not count. QEMU gives some back, too.
  const auto fill = [&] {
    const auto kept = overhead(*sandbox, 0);
    const auto more = kLimit / 100 * 97 - std::min(kept, kLimit / 100 * 97);
    if (more >= kMib)
      (void)sandbox->ask(fmt::format("fill-memory {}", more / kMib));  // ignored: it throws
  };
  const auto says = [this](const std::string& what) {
    return daemon_->log().find(what) != std::string::npos;
  };
  const auto told = [&](const std::string& what) { return wait_until([&] { return says(what); }); };
  EXPECT_TRUE(wait_until([&] {
    fill();
    return says(fmt::format("sandbox '{}': MemoryNearLimit: ", sandbox->id()));
  }));
  EXPECT_TRUE(told(fmt::format("{} allows {} MiB", sandbox->group(), kLimit / kMib)));
  sandbox->run_container({"one", "app", 256 * kMib, 50'000});
  EXPECT_TRUE(told(fmt::format("sandbox '{}': MemoryNearLimit cleared", sandbox->id())));
  EXPECT_EQ(daemon_->log().find("OomKilled"), std::string::npos);
}

KCG_ON_TREE(LiveMeasure, v1);

}  // namespace
}  // namespace kcg::live
