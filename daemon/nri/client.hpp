// SPDX-License-Identifier: Apache-2.0
//
// The connection to the engine's NRI socket (L9). The runtime calls its plugins one after the other
// under one lock, and a pod waits meanwhile: so a thread answers each call as it comes (NriLine),
// and the loop hears of it afterwards. Losing the connection loses no placement: what was told
// stays known until the next connection has told all again.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "daemon/nri/line.hpp"
#include "daemon/watch/backoff.hpp"
#include "daemon/watch/flood.hpp"
#include "daemon/watch/path_watch.hpp"
#include "model/config.hpp"
#include "nri/news.hpp"

namespace kcg {

/// Value: whom the connection tells, and how patient it is.
struct NriClientWiring {
  std::function<void(const nri::News&)> news;
  TellHealth health;                            ///< of the connection
  TellHealth watch_health;                      ///< of the look-out for the socket
  Instant patience = std::chrono::seconds(30);  ///< from connecting to knowing all pods
};

/// Resource: see the head of the file.
class NriClient final {
 public:
  NriClient(Loop& loop, const Config::Nri& config, NriClientWiring wiring);
  NriClient(const NriClient&) = delete;
  NriClient& operator=(const NriClient&) = delete;
  ~NriClient() = default;

  /// `down`: there is no engine, or it has not told its pods yet.
  [[nodiscard]] PartState state() const { return state_; }

  static constexpr Instant kFirstRetry = std::chrono::milliseconds(100);
  static constexpr Instant kLastRetry = std::chrono::seconds(30);
  /// For so long others are served first after a flood of calls.
  static constexpr Instant kRest = std::chrono::milliseconds(5);

 private:
  void watch();
  void connect();
  [[nodiscard]] Status open();
  void absent();
  [[nodiscard]] Status listen();
  void hear();
  void rest();
  void known();
  void lost(const Error& why);
  void try_again();

  Loop& loop_;
  Config::Nri config_;
  NriClientWiring wiring_;
  SystemClock clock_;
  PartState state_ = PartState::off;
  Backoff backoff_{kFirstRetry, kLastRetry};
  FloodCount calls_;
  std::unique_ptr<NriLine> line_;  ///< of a connection that is open
  Source io_, pause_, patience_, retry_;
  std::optional<PathWatch> watch_;  ///< last: it tells at once what is there
};

}  // namespace kcg
