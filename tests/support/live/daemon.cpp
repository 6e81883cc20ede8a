// SPDX-License-Identifier: Apache-2.0
#include "support/live/daemon.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "base/text.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {

namespace {

Fd notify_socket(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("bind " + path + ": " + errno_text(errno));
  return fd;
}

std::string unique_prefix(const std::string& run_root) {
  static int count = 0;
  return fmt::format("{}/daemon-{}-", run_root, ++count);
}

}  // namespace

Daemon::Daemon(Tree tree, std::string run_root, DaemonSpec spec)
    : tree_(tree),
      run_root_(std::move(run_root)),
      files_(unique_prefix(run_root_)),
      spec_(std::move(spec)),
      notify_(notify_socket(files_ + "notify")) {}

Daemon::~Daemon() {
  child_.reset();
  ::unlink((files_ + "notify").c_str());
}

Command Daemon::command() const {
  const auto config = files_ + "config.toml";
  std::ofstream(config) << fmt::format("[reconcile]\ninterval = \"{}\"\n", spec_.resync)
                        << spec_.config
                        << (tree_ == Tree::v2 ? "[cgroup]\nhierarchy = \"v2\"\n" : "");
  Command command;
  command.argv = spec_.wrapper;
  const auto root = tree_ == Tree::v2 ? must(standin::find_mounts("v2")).front().path
                                      : std::string("/sys/fs/cgroup");
  for (const auto& word :
       {daemon_program(), std::string("--config"), config, std::string("--run-root"), run_root_,
        std::string("--cgroup-root"), root, std::string("--bus"), spec_.bus})
    command.argv.push_back(word);
  command.argv.insert(command.argv.end(), spec_.arguments.begin(), spec_.arguments.end());
  command.environment = {{"NOTIFY_SOCKET", files_ + "notify"}};
  command.output = files_ + "log";
  command.before_exec = [] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); };
  return command;
}

void Daemon::launch() {
  child_.reset();
  child_.emplace(Child::start(command()));
}

bool Daemon::ready() {
  std::array<pollfd, 2> fds = {pollfd{notify_.get(), POLLIN, 0},
                               pollfd{child_->pidfd(), POLLIN, 0}};
  while (::poll(fds.data(), fds.size(), static_cast<int>(kPatience.count())) > 0) {
    std::array<char, 4096> text;
    const auto got = ::recv(notify_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got < 0 && fds[1].revents != 0) return false;
    if (got > 0 && std::string_view(text.data(), static_cast<std::size_t>(got)).find("READY=1") !=
                       std::string_view::npos)
      return true;
  }
  return false;
}

void Daemon::start() {
  launch();
  if (!ready()) throw std::runtime_error("the daemon did not become ready:\n" + log());
}

void Daemon::kill9() { child_.reset(); }

int Daemon::terminate() {
  child_->signal(SIGTERM);
  const auto status = child_->wait(kPatience);
  if (!status) throw std::runtime_error("the daemon did not end at SIGTERM:\n" + log());
  return *status;
}

std::optional<int> Daemon::ended() { return child_->wait(std::chrono::milliseconds(0)); }

std::string Daemon::log() const { return slurp(files_ + "log"); }

std::string Daemon::complaints() const {
  std::string found;
  const auto text = log();
  for (const auto line : lines(text))
    if (line.size() > 2 && line[0] == '<' && line[1] <= '4') found.append(line).append("\n");
  return found;
}

unsigned Daemon::looks(const std::string& id) const {
  constexpr std::string_view kLooks = ", looks: ";
  unsigned sum = 0;
  const auto text = log();
  for (const auto line : lines(text)) {
    const auto at = line.find(kLooks);
    if (at == std::string_view::npos || line.find("sandbox '" + id) == std::string_view::npos)
      continue;
    sum += static_cast<unsigned>(parse_u64(line.substr(at + kLooks.size())).value_or(0));
  }
  return sum;
}

std::string Daemon::first_looked_for(const std::string& id) const {
  const auto text = log();
  const auto begin = fmt::format("sandbox '{}': ", id);
  for (const auto line : lines(text)) {
    const auto at = line.find(begin), end = line.find(", looks: ");
    if (at == std::string_view::npos || end == std::string_view::npos) continue;
    return std::string(line.substr(at + begin.size(), end - at - begin.size()));
  }
  return "";
}

unsigned Daemon::glances(const std::string& id) const {
  const auto text = log();
  const auto all = lines(text);
  const auto glance = fmt::format("sandbox '{}': glance", id);
  return static_cast<unsigned>(std::count_if(
      all.begin(), all.end(), [&](std::string_view line) { return line.ends_with(glance); }));
}

std::string Daemon::standing_complaints() const {
  std::string found;
  const auto text = log();
  const auto all = complaints();
  for (const auto line : lines(all)) {
    // "<4>sandbox 'ID': NAME: text", later perhaps "<6>sandbox 'ID': NAME cleared: text"
    const auto name = line.find("': ");
    const auto end = name == std::string_view::npos ? name : line.find(": ", name + 3);
    if (end == std::string_view::npos) {
      found.append(line).append("\n");  // no condition: nobody takes it back
      continue;
    }
    const std::string condition(line.substr(3, end - 3));
    const auto cleared = text.rfind(condition + " cleared: ");
    if (cleared == std::string::npos || cleared < text.rfind(condition + ": "))
      found.append(line).append("\n");
  }
  return found;
}

}  // namespace kcg::live
