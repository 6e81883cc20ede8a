// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "support/sample_views.hpp"
#include "tools/cgctl/doctor/report.hpp"
#include "unit/cgctl/sample_facts.hpp"

namespace kcg::cgctl::doctor {
namespace {

using samples::sound_node;

TEST(Doctor, ASoundNodeIsGreen) {
  for (const auto& one : diagnose(sound_node()))
    EXPECT_EQ(one.verdict, Verdict::ok) << one.check << ": " << one.text;
  EXPECT_TRUE(healthy(diagnose(sound_node())));
}

const Error forbidden{EACCES, "Permission denied"}, broken{EIO, "Input/output error"};

tl::unexpected<Error> refused(const Error& error) { return tl::unexpected<Error>(error); }

/// One thing each, so that a check that looks elsewhere is found out.
const struct {
  const char* name;
  std::function<void(Facts&)> change;
  Finding (*check)(const Facts&);
  Verdict verdict;
  const char* part;  ///< of the text or the remedy
} kTroubles[] = {
    {"old kernel", [](Facts& f) { f.kernel = "5.4.1"; }, check_kernel, Verdict::failed, "too old"},
    {"vhost", [](Facts& f) { f.kernel = "6.1.0-9"; }, check_kernel, Verdict::ok, "before 6.4"},
    {"strange kernel", [](Facts& f) { f.kernel = "x"; }, check_kernel, Verdict::unchecked, "x"},
    {"in a container", [](Facts& f) { f.namespaces.pid = "pid:[1]"; }, check_namespaces,
     Verdict::warning, "on the node itself"},
    {"no hierarchy", [](Facts& f) { f.host = refused(broken); }, check_hierarchy, Verdict::failed,
     "cgroup file systems"},
    {"controllers without", [](Facts& f) { f.host = refused(broken); }, check_controllers,
     Verdict::unchecked, "no hierarchy"},
    {"no memory", [](Facts& f) { f.host->hierarchies[0].controllers = {"cpu", "cpuset"}; },
     check_controllers, Verdict::failed, "there is no memory"},
    {"libcgroup elsewhere", [](Facts& f) { f.libcgroup->at("cpu") = "/cgroup"; }, check_libcgroup,
     Verdict::warning, "libcgroup at /cgroup"},
    {"libcgroup fails", [](Facts& f) { f.libcgroup = refused(broken); }, check_libcgroup,
     Verdict::failed, "lssubsys"},
    {"another root", [](Facts& f) { f.config->cgroup.root = "/c"; }, check_libcgroup,
     Verdict::unchecked, "another place"},
    {"no PSI", [](Facts& f) { f.pressure = refused(broken); }, check_pressure, Verdict::warning,
     "psi=1"},
    {"no PSI on v1",
     [](Facts& f) {
       f.pressure = refused(broken);
       f.host->mode = HierarchyMode::v1;
     },
     check_pressure, Verdict::ok, "v1"},
    {"connector of the daemon", [](Facts& f) { f.daemon.problems = {"process events: refused"}; },
     check_process_events, Verdict::warning, "refused"},
    {"connector, unprivileged",
     [](Facts& f) {
       f.daemon.running = false;
       f.process_events = refused(forbidden);
     },
     check_process_events, Verdict::unchecked, "as root"},
    {"connector refuses root",
     [](Facts& f) {
       f.daemon.running = false;
       f.process_events = refused(broken);
     },
     check_process_events, Verdict::failed, "CAP_NET_ADMIN"},
    {"no debugfs", [](Facts& f) { f.kvm_debugfs = refused({ENOENT, "no"}); }, check_debugfs,
     Verdict::warning, "modprobe"},
    {"debugfs, unprivileged", [](Facts& f) { f.kvm_debugfs = refused(forbidden); }, check_debugfs,
     Verdict::unchecked, "as root"},
    {"few watches", [](Facts& f) { f.inotify_watches = 100; }, check_inotify, Verdict::warning,
     "max_user_watches=15000"},
    {"few instances", [](Facts& f) { f.inotify_instances = 3; }, check_inotify, Verdict::warning,
     "max_user_instances"},
    {"full", [](Facts& f) { f.run->bytes = 0; }, check_run_space, Verdict::failed, "0 MiB"},
    {"nearly full", [](Facts& f) { f.run->bytes = 5 << 20; }, check_run_space, Verdict::warning,
     "5 MiB"},
    {"no inodes", [](Facts& f) { f.run->inodes = 9; }, check_run_space, Verdict::warning,
     "9 files"},
    {"bad configuration", [](Facts& f) { f.config = refused({0, "config.toml:3: no"}); },
     check_config, Verdict::failed, "check-config"},
    {"no bus", [](Facts& f) { f.bus = refused({0, "no bus"}); }, check_bus, Verdict::failed,
     "no bus"},
    {"no bus, daemon", [](Facts& f) { f.bus = refused({0, "no bus"}); }, check_daemon,
     Verdict::failed, "without the bus"},
    {"dead",
     [](Facts& f) {
       f.daemon.running = false;
       f.daemon.why_not = "nobody owns it";
     },
     check_daemon, Verdict::failed, "enable --now"},
    {"not asked", [](Facts& f) { f.daemon.asked = false; }, check_daemon, Verdict::unchecked,
     "--no-daemon"},
    {"another version", [](Facts& f) { f.daemon.version = "0"; }, check_daemon, Verdict::warning,
     "restart"},
    {"observing is no fault", [](Facts& f) { f.daemon.mode = "observe"; }, check_daemon,
     Verdict::ok, "OBSERVING"},
    {"no systemd", [](Facts& f) { f.systemd = refused({0, "nobody"}); }, check_systemd,
     Verdict::warning, "nobody"},
    {"systemd not wanted",
     [](Facts& f) {
       f.systemd = refused({0, "nobody"});
       f.config->systemd_address = "none";
     },
     check_systemd, Verdict::ok, "not wanted"},
    {"degraded", [](Facts& f) { f.sandboxes->push_back(kcg::samples::degraded()); },
     check_sandboxes, Verdict::failed, "1 of 3 needs a look"},
    {"NRI is not enabled", [](Facts& f) { f.daemon.parts["NRI"] = "down"; }, check_nri, Verdict::ok,
     "io.containerd.nri.v1.nri"},
    {"NRI is not wanted", [](Facts& f) { f.config->nri.mode = NriMode::off; }, check_nri,
     Verdict::ok, "not wanted"},
    {"nobody to ask about NRI", [](Facts& f) { f.daemon.running = false; }, check_nri,
     Verdict::unchecked, "does not run"},
    {"none", [](Facts& f) { f.sandboxes->clear(); }, check_sandboxes, Verdict::ok, "none"},
    {"blind",
     [](Facts& f) {
       f.daemon.running = false;
       f.root = false;
     },
     check_sandboxes, Verdict::unchecked, "only root"},
    {"kubelet's driver differs", [](Facts& f) { f.kubelet_driver = "cgroupfs"; }, check_driver,
     Verdict::warning, "cgroupDriver"},
    {"two drivers",
     [](Facts& f) {
       f.kubelet_driver = "";
       f.sandboxes->front().driver = Driver::cgroupfs;
     },
     check_driver, Verdict::warning, "systemd by 1, cgroupfs by 1"},
    {"layouts differ", [](Facts& f) { f.config->layout.sandbox_cgroup_only = false; }, check_layout,
     Verdict::warning, "\"auto\""},
    {"layouts agree", [](Facts& f) { f.config->layout.sandbox_cgroup_only = true; }, check_layout,
     Verdict::ok, ":12"},
    {"no Kata", [](Facts& f) { f.kata = std::nullopt; }, check_layout, Verdict::ok, "no conf"},
    {"Kata unreadable", [](Facts& f) { f.kata = refused(forbidden); }, check_layout,
     Verdict::unchecked, "as root"},
    {"CRI-O's driver differs", [](Facts& f) { f.crio->cgroup_manager = "cgroupfs"; }, check_driver,
     Verdict::warning, "CRI-O's is cgroupfs"},
    {"CRI-O's driver is the same", [](Facts& f) { f.crio->cgroup_manager = "systemd"; },
     check_driver, Verdict::ok, "systemd"},
    {"another file of Kata's",
     [](Facts& f) {
       f.named = {{"CRI-O", "kata", "/k1.toml", KataConfigWord{true, 1}},
                  {"CRI-O", "kata-clh", "/k2.toml", std::nullopt}};
     },
     check_layout, Verdict::warning, "false in /k2.toml, with which CRI-O starts kata-clh"},
    {"our own word counts anyway",
     [](Facts& f) {
       f.named = {{"CRI-O", "kata-clh", "/k2.toml", std::nullopt}};
       f.config->layout.sandbox_cgroup_only = true;
     },
     check_layout, Verdict::ok, ":12"},
    {"a file of Kata's elsewhere",
     [](Facts& f) {
       f.kata = std::nullopt;
       f.named = {{"containerd", "kata", "/opt/k.toml", std::nullopt}};
     },
     check_layout, Verdict::warning, "/opt/k.toml, where [discovery] does not look"},
    {"CRI-O, and allowed",
     [](Facts& f) {
       f.containerd->clear();
       f.crio->kata = {{"kata", ""}};
     },
     check_annotation, Verdict::ok, "CRI-O hands it on, and Kata allows it"},
    {"CRI-O, and not allowed",
     [](Facts& f) {
       f.containerd->clear();
       f.crio->kata = {{"kata", ""}};
       (*f.kata)->words.annotations.clear();
     },
     check_annotation, Verdict::ok, "before a pod has it"},
    {"CRI-O unreadable",
     [](Facts& f) {
       f.containerd->clear();
       f.crio = refused(forbidden);
     },
     check_annotation, Verdict::unchecked, "as root"},
    {"not allowed", [](Facts& f) { (*f.kata)->words.annotations["qemu"].patterns = {"x", "("}; },
     check_annotation, Verdict::failed, "config.toml:31"},
    {"not handed on", [](Facts& f) { f.containerd->front().runtime.pod_annotations = {"a*"}; },
     check_annotation, Verdict::ok, "safe"},
    {"runtime-rs", [](Facts& f) { (*f.kata)->words.rust = true; }, check_annotation,
     Verdict::warning, "one pod"},
};

TEST(Doctor, EachCheckSeesItsOwnTrouble) {
  for (const auto& row : kTroubles) {
    SCOPED_TRACE(row.name);
    auto facts = sound_node();
    row.change(facts);
    const auto found = row.check(facts);
    EXPECT_EQ(found.verdict, row.verdict) << found.text;
    EXPECT_NE((found.text + found.remedy).find(row.part), std::string::npos)
        << found.text << " / " << found.remedy;
    const bool wrong = row.verdict == Verdict::warning || row.verdict == Verdict::failed;
    EXPECT_EQ(healthy({found}), !wrong);
  }
}

TEST(Doctor, EachPartOfTheDaemonHasALineOfItsOwn) {
  auto facts = sound_node();
  facts.daemon.problems = {"OOM kills: no", "lost events: many", "process events: none"};
  const auto parts = check_parts(facts);
  ASSERT_EQ(parts.size(), 2U) << "process events have a check of their own";
  EXPECT_EQ(parts[0].check, "OOM kills");
  EXPECT_EQ(parts[0].text, "no");
  EXPECT_NE(parts[0].remedy.find("journalctl"), std::string::npos);
  EXPECT_EQ(diagnose(facts).size(), diagnose(sound_node()).size() + 2);
}

TEST(Doctor, InAPipeEveryLineHasTheSameNumberOfWords) {
  const auto text = render({}, diagnose(samples::broken_node()));
  for (const auto line : lines(text)) EXPECT_EQ(words(line).size(), 4U) << line;
}

TEST(Doctor, HostileTextCannotDriveTheTerminal) {
  auto facts = sound_node();
  facts.kernel = "6.9\x1b[2J";
  facts.daemon.problems = {"x\x1b[2J: y\x1b[2J"};
  for (const auto width : {std::optional<std::size_t>(), std::optional<std::size_t>(40)}) {
    Style style;
    style.width = width;
    EXPECT_EQ(render(style, diagnose(facts)).find('\x1b'), std::string::npos);
  }
}

TEST(DoctorReport, HoldsWhatWasSaidAndWhatCouldNotBe) {
  using Form = Part::Form;
  const std::vector<Part> parts = {
      {"kernel", Form::text, std::string("6.12")},
      {"mounts", Form::lines, std::string("a\nb\n")},
      {"plan", Form::json, std::string("{\"version\":1}")},
      {"explain", Form::json, std::string("no JSON")},
      {"journal", Form::lines, tl::unexpected<Error>(Error{EACCES, "journal: denied"})}};
  const auto text = report_document(1'700'000'000, {good("kernel", "6.12")}, parts);
  for (const auto* part :
       {"\"time\": \"2023-11-14T22:13:20Z\"", "\"kernel\": \"6.12\"", "\"explain\": \"no JSON\"",
        "\"error\": \"journal: denied\"", "\"check\": \"kernel\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

class DoctorReportFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "kcg-report-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/report.json";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string directory_, path_;
};

TEST_F(DoctorReportFile, IsForItsOwnerAlone) {
  {
    auto file = ReportFile::create(path_);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("text"));
  }
  struct stat facts{};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
  EXPECT_EQ(read_path(path_).value_or(""), "text");
  const auto again = ReportFile::create(path_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, EEXIST);
  EXPECT_EQ(read_path(path_).value_or(""), "text");
}

TEST_F(DoctorReportFile, NeverFollowsALink) {
  ASSERT_EQ(symlink((directory_ + "/elsewhere").c_str(), path_.c_str()), 0);
  EXPECT_FALSE(ReportFile::create(path_));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/elsewhere"));
}

TEST_F(DoctorReportFile, NothingStaysOfOneThatWasNotWritten) {
  {
    ASSERT_TRUE(ReportFile::create(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace kcg::cgctl::doctor
