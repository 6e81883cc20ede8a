// SPDX-License-Identifier: Apache-2.0
#include "integration/flood.hpp"

#include <poll.h>
#include <systemd/sd-bus.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "integration/bus_stand.hpp"

namespace kcg::integration {

namespace {

void must(int result, const char* what) {
  if (result < 0) throw std::runtime_error(what);
}

/// Resource: one connection with its outstanding calls.
class Asker final {
 public:
  Asker(const std::string& address, const Question& question, std::atomic<std::size_t>& answered,
        std::atomic<std::size_t>& refused)
      : question_(question), answered_(answered), refused_(refused) {
    must(sd_bus_new(&bus_), "bus");
    must(sd_bus_set_address(bus_, address.c_str()), "address");
    must(sd_bus_set_bus_client(bus_, 1), "client");
    must(sd_bus_start(bus_), "start");
  }
  ~Asker() {
    sd_bus_close(bus_);
    sd_bus_unref(bus_);
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  void ask() {
    const bool bare = question_.argument == "-";
    must(sd_bus_call_method_async(bus_, nullptr, kService, kRoot, question_.interface.c_str(),
                                  question_.member.c_str(), on_answer, this, bare ? nullptr : "s",
                                  question_.argument.c_str()),
         "call");
  }
  void work() {
    for (int r = 1; r > 0;) r = sd_bus_process(bus_, nullptr);
  }
  [[nodiscard]] pollfd waits_for() {
    return {sd_bus_get_fd(bus_), static_cast<short>(sd_bus_get_events(bus_)), 0};
  }

 private:
  static int on_answer(sd_bus_message* message, void* self, sd_bus_error*) {
    auto& asker = *static_cast<Asker*>(self);
    ++(sd_bus_message_is_method_error(message, nullptr) > 0 ? asker.refused_ : asker.answered_);
    asker.ask();
    return 0;
  }

  sd_bus* bus_ = nullptr;
  const Question& question_;
  std::atomic<std::size_t>& answered_;
  std::atomic<std::size_t>& refused_;
};

}  // namespace

Flood::Flood(const std::string& address, const Question& question, std::size_t connections,
             std::size_t outstanding)
    : thread_([=, this] { run(address, question, connections, outstanding); }) {}

Flood::~Flood() {
  stop_ = true;
  thread_.join();
}

void Flood::run(const std::string& address, const Question& question, std::size_t connections,
                std::size_t outstanding) {
  constexpr int kPause = 50;  // milliseconds until it is seen that the flood is over
  std::vector<std::unique_ptr<Asker>> askers;
  for (std::size_t i = 0; i < connections; ++i) {
    askers.push_back(std::make_unique<Asker>(address, question, answered_, refused_));
    for (std::size_t call = 0; call < outstanding; ++call) askers.back()->ask();
  }
  while (!stop_) {
    std::vector<pollfd> fds;
    for (const auto& asker : askers) asker->work();
    for (const auto& asker : askers) fds.push_back(asker->waits_for());
    (void)poll(fds.data(), fds.size(), kPause);  // ignored: all are worked on again anyway
  }
}

}  // namespace kcg::integration
