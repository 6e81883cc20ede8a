// SPDX-License-Identifier: Apache-2.0
//
// fake-daemon ADDRESS: serves the samples over the real bus service. Commands on standard input,
// one per line; what happens is told on standard output.
#include <sys/epoll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "base/text.hpp"
#include "daemon/bus/service.hpp"
#include "daemon/node/cpu_time.hpp"
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
    if (verb == "trouble") trouble(command.substr(verb.size()));
    if (verb == "vanish") manager_.remove_when_looked_at = true;
    if (verb == "answer") manager_.answer(static_cast<std::uint32_t>(*parse_u64(parts.at(1))));
    if (verb == "refuse")
      manager_.answer(fail(static_cast<int>(ManagerError::observe_only), "mode is observe"));
    if (verb == "many") many(*parse_u64(parts.at(1)));
    if (verb == "pulse") return pulse(std::chrono::milliseconds(*parse_u64(parts.at(1))));
    if (verb == "slow") manager_.view_costs = std::chrono::milliseconds(*parse_u64(parts.at(1)));
    if (verb == "chatter") chatter(*parse_u64(parts.at(1)));
    if (verb == "memory") manager_.memory = *parse_u64(parts.at(1));
    if (verb == "return") come_back();
    if (verb == "happen") happen();
    if (verb == "quit") loop_.exit(0);
    tell("done " + std::string(verb));
  }

  /// What the start ends with, when the bus has answered or does not.
  void claim() {
    bus_.claim_name([](const Status& claimed) {
      tell(claimed ? "claimed" : "not claimed: " + claimed.error().text);
      tell("ready");
    });
  }

 private:
  void change() {
    auto& view = manager_.views.at(samples::kFirstId);
    const auto before = view;
    view = settled(view);
    bus_.changed(before, view);
  }
  /// What was changed by somebody else is put back.
  void happen() {
    auto one = samples::histories().front();
    one.events = {one.events.back()};
    bus_.happened(one);
  }
  /// So many sandboxes, each of which takes a millisecond to look at.
  void many(std::size_t count) {
    manager_.look_costs = std::chrono::milliseconds(1);
    auto view = samples::legacy();
    for (std::size_t i = 0; i < count; ++i) {
      view.id = fmt::format("many{:08}", i);
      manager_.views[view.id] = view;
      bus_.added(view);
    }
  }
  /// Passes of a sandbox: the next one is due when one is done, and is done as soon as the loop
  /// lets it. Told: how many were done in the time, and the CPU time that went between two of them,
  /// on the average and at most, in microseconds. CPU time, since the machine has other things to
  /// do, too.
  void pulse(Instant time) {
    pulses_ = 0;
    longest_ = Instant(0);
    pulse_ends_ = SystemClock().now() + time;
    pulse_began_ = last_pass_ = thread_cpu_time();
    beat();
  }
  void beat() {
    if (SystemClock().now() >= pulse_ends_)
      return tell(fmt::format("done pulse {} {} {}", pulses_,
                              (last_pass_ - pulse_began_).count() / (pulses_ == 0 ? 1 : pulses_),
                              longest_.count()));
    auto pass = loop_.soon([this] {
      ++pulses_;
      longest_ = std::max(longest_, thread_cpu_time() - last_pass_);
      last_pass_ = thread_cpu_time();
      beat();
    });
    if (pass) pass_ = *std::move(pass);
  }
  /// Many signals, a hundred a turn of the loop.
  void chatter(std::size_t left) {
    if (left == 0) return;
    for (int i = 0; i < 100; ++i) bus_.problems_changed();
    auto source = loop_.soon([this, left] { chatter(left > 100 ? left - 100 : 0); });
    if (source) chatting_ = *std::move(source);
  }
  /// Ends the trouble when there is no text.
  void trouble(const std::string& text) {
    manager_.troubles.clear();
    if (!text.empty()) manager_.troubles.push_back(text.substr(1));
    bus_.problems_changed();
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
  /// Ends and starts again under its id, while nothing else happens on the bus.
  void come_back() {
    const auto view = manager_.views.at(samples::kFirstId);
    for (int round = 0; round < 3; ++round) {
      bus_.removed(view.id);
      bus_.added(view);
    }
  }
  void remove(const std::string& id) {
    manager_.views.erase(id);
    bus_.removed(id);
  }

  Loop& loop_;
  FakeManager& manager_;
  BusService& bus_;
  Source chatting_, pass_;
  long pulses_ = 0;
  Instant pulse_ends_{0}, pulse_began_{0}, last_pass_{0}, longest_{0};
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
  manager.loop = loop->get();
  const auto bus = BusService::create(
      **loop, manager, address,
      [](bool problem, const std::string& text) { tell((problem ? "problem " : "news ") + text); });
  manager.publisher = bus.get();
  Commands commands(**loop, manager, *bus);
  commands.claim();
  LineReader reader;
  const auto input = (*loop)->on_fd(STDIN_FILENO, EPOLLIN, [&](std::uint32_t) {
    reader.read_some(STDIN_FILENO, [&](const std::string& line) { commands.obey(line); });
  });
  const auto status = (*loop)->run();
  return status ? *status : 1;
}

}  // namespace

int main(int argc, char** argv) { return argc == 2 ? serve(argv[1]) : 2; }
