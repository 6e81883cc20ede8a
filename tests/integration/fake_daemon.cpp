// SPDX-License-Identifier: Apache-2.0
//
// fake-daemon ADDRESS: serves the samples over the real bus service. Commands on standard input,
// one per line; what happens is told on standard output.
#include <sys/epoll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/text.hpp"
#include "daemon/bus/service.hpp"
#include "integration/fake_manager.hpp"
#include "support/sample_views.hpp"

namespace {

using namespace kcg;
using integration::FakeManager;

void tell(const std::string& text) { std::cout << text << std::endl; }

/// The first sample as it is after a pass that changed something.
SandboxView settled(SandboxView view) {
  view.state = SandboxState::placed;
  view.vcpus = 3;
  view.memory_used = 1;
  view.conditions = {{{ConditionName::oom_killed, "twice"}, 1'700'000'500}};
  view.threads.pop_back();
  view.groups[0].limits["memory.max"] = "1172307968";
  return view;
}

class Commands final {
 public:
  Commands(Loop& loop, FakeManager& manager, BusService& bus)
      : loop_(loop), manager_(manager), bus_(bus) {}

  void obey(const std::string& command) {
    const auto parts = words(command);
    const auto verb = parts.empty() ? "quit" : parts.front();
    if (verb == "change") change();
    if (verb == "add") add(std::string(parts.at(1)));
    if (verb == "remove") remove(std::string(parts.at(1)));
    if (verb == "hostile") manager_.views.at(samples::kFirstId).threads[0].comm = "a\xff\n";
    if (verb == "crowd") crowd(*parse_u64(parts.at(1)));
    if (verb == "vanish") manager_.remove_when_looked_at = true;
    if (verb == "answer") manager_.answer(static_cast<std::uint32_t>(*parse_u64(parts.at(1))));
    if (verb == "refuse")
      manager_.answer(fail(static_cast<int>(ManagerError::observe_only), "mode is observe"));
    if (verb == "claim") claim();
    if (verb == "quit") loop_.exit(0);
    tell("done " + std::string(verb));
  }

  void claim() {
    const auto claimed = bus_.claim_name();
    tell(claimed ? "claimed" : "not claimed: " + claimed.error().text);
  }

 private:
  void change() {
    auto& view = manager_.views.at(samples::kFirstId);
    const auto before = view;
    view = settled(view);
    bus_.changed(before, view);
  }
  void crowd(std::size_t threads) {
    auto& view = manager_.views.at(samples::kFirstId);
    view.threads.resize(threads, view.threads.front());
  }
  void add(const std::string& id) {
    auto view = samples::legacy();
    view.id = id;
    manager_.views[id] = view;
    bus_.added(view);
  }
  void remove(const std::string& id) {
    manager_.views.erase(id);
    bus_.removed(id);
  }

  Loop& loop_;
  FakeManager& manager_;
  BusService& bus_;
};

/// Whole lines of a descriptor.
class LineReader final {
 public:
  template <class Take>
  void read_some(int fd, Take&& take) {
    char buffer[4096];
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count <= 0) return take("quit");
    rest_.append(buffer, static_cast<std::size_t>(count));
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      const auto line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      take(line);
    }
  }

 private:
  std::string rest_;
};

int serve(const std::string& address) {
  FakeManager manager(tell);
  manager.views = {{samples::kFirstId, samples::degraded()},
                   {samples::kSecondId, samples::legacy()}};
  manager.ignored = {samples::ignored()};
  const auto loop = Loop::create();
  if (!loop) return 1;
  const auto bus = BusService::create(
      **loop, manager, address,
      [](bool problem, const std::string& text) { tell((problem ? "problem " : "news ") + text); });
  if (!bus) {
    tell("no bus: " + bus.error().text);
    return 1;
  }
  manager.publisher = bus->get();
  Commands commands(**loop, manager, **bus);
  commands.claim();
  LineReader reader;
  const auto input = (*loop)->on_fd(STDIN_FILENO, EPOLLIN, [&](std::uint32_t) {
    reader.read_some(STDIN_FILENO, [&](const std::string& line) { commands.obey(line); });
  });
  tell("ready");
  const auto status = (*loop)->run();
  return status ? *status : 1;
}

}  // namespace

int main(int argc, char** argv) { return argc == 2 ? serve(argv[1]) : 2; }
