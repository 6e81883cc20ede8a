// SPDX-License-Identifier: Apache-2.0
#include "chain.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "echo.hpp"
#include "support/live/kernel.hpp"
#include "support/live/node.hpp"
#include "support/live/placement.hpp"
#include "support/nri_engine.hpp"
#include "timeline.hpp"

namespace kcg::bench {

namespace {

using std::chrono::steady_clock;

/// What a plugin that wants all is called for while a pod with one container starts, and whether
/// ours wants it, too.
struct Event {
  const char* method;
  bool ours;
};
constexpr std::array<Event, 5> kEvents = {{{"RunPodSandbox", true},
                                           {"CreateContainer", false},
                                           {"PostCreateContainer", true},
                                           {"StartContainer", false},
                                           {"PostStartContainer", false}}};

/// Value: how long plugins took to answer, one by one.
struct Calls {
  std::vector<Micros> neighbour, ours;
};

/// Resource: an engine that starts pods. It calls its plugins one after the other for one pod at a
/// time, as engines do under their lock.
class Engine final {
 public:
  Engine(const live::Node& node, bool with_ours) : node_(node) {
    const auto directory = node.run_root() + "/run/nri";
    std::filesystem::create_directories(directory);
    daemon_ = node.daemon({.config = with_ours ? "" : "[nri]\nmode = \"off\"\n"});
    if (with_ours) ours_ = std::make_unique<nri::FakeEngine>(directory + "/nri.sock");
    daemon_->start();
    if (ours_) ours_->greet({});
  }

  /// Starts them at once; returns how long each took until the last plugin had answered.
  std::vector<Micros> start(std::size_t pods, Calls& calls) {
    std::vector<std::unique_ptr<live::Sandbox>> all;
    const auto begin = steady_clock::now();
    for (std::size_t i = 0; i < pods; ++i) {
      all.push_back(node_.sandbox({.pod = fmt::format("pod-chain{}", i), .light = true}));
      all.back()->start();
    }
    std::vector<Micros> took;
    for (const auto& one : all) {
      (void)one->truth();  // ignored: it blocks until the VMM runs
      for (const auto& event : kEvents) call(event, one->id(), calls);
      took.push_back(std::chrono::duration_cast<Micros>(steady_clock::now() - begin));
    }
    for (const auto& one : all) {
      if (!live::settle(*one).empty()) throw std::runtime_error("a pod was not placed");
      one->end();
    }
    for (const auto& one : all)
      if (!live::gone(*one).empty()) throw std::runtime_error("a pod left groups");
    return took;
  }

 private:
  void call(const Event& event, const std::string& id, Calls& calls) {
    const auto time = [](std::vector<Micros>& took, const auto& act) {
      const auto begin = steady_clock::now();
      act();
      took.push_back(std::chrono::duration_cast<Micros>(steady_clock::now() - begin));
    };
    time(calls.neighbour, [&] { neighbour_.call(); });
    if (!ours_ || !event.ours) return;
    const auto payload = nri::event_call({id, "pod"}, {"app"});
    // ignored: the answer is empty, and it throws where there is none
    time(calls.ours, [&] { (void)ours_->call(event.method, payload); });
  }

  const live::Node& node_;
  Echo neighbour_;
  std::unique_ptr<nri::FakeEngine> ours_;
  std::unique_ptr<live::Daemon> daemon_;
};

}  // namespace

nlohmann::ordered_json bench_chain(live::Tree tree, const Chain& chain) {
  const live::Node node(tree);
  std::array<std::vector<Micros>, 2> pods, whole;  // without and with
  std::vector<Micros> longer;
  Calls calls;
  for (std::size_t pair = 0; pair < chain.pairs; ++pair) {
    for (const bool first : {false, true}) {
      const bool with = first == (pair % 2 == 0);
      const auto took = Engine(node, with).start(chain.pods, calls);
      pods.at(with).insert(pods.at(with).end(), took.begin(), took.end());
      whole.at(with).push_back(took.back());
    }
    longer.push_back(whole[1].back() - whole[0].back());
  }
  return {{"pods", chain.pods},
          {"pairs", chain.pairs},
          {"pod_without_us", summary(pods[0])},
          {"pod_with_us", summary(pods[1])},
          {"all_without_us", summary(whole[0])},
          {"all_with_us", summary(whole[1])},
          {"all_longer_us", summary(longer)},
          {"neighbour_call_us", summary(calls.neighbour)},
          {"our_call_us", summary(calls.ours)}};
}

}  // namespace kcg::bench
