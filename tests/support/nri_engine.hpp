// SPDX-License-Identifier: Apache-2.0
//
// The runtime's side of NRI, for tests: what it writes, and an engine that listens on a socket and
// speaks. It waits for answers with a deadline and throws when none comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "nri/frames.hpp"

namespace kcg::nri {

/// Value: a container as the engine knows it.
struct SaidContainer {
  std::string id;
  std::int64_t memory = 0;  ///< bytes; 0: none
  std::int64_t quota = 0;   ///< microseconds per 100 ms; 0: none
};

/// Value: a pod as the engine knows it.
struct SaidPod {
  std::string id;
  std::string name = "web";
  std::string cgroup_parent = {};
  std::vector<std::pair<std::string, std::string>> annotations = {}, labels = {};
  std::int64_t overhead_memory = 0, overhead_quota = 0;
  std::uint64_t shares = 0;
  std::string uid = "u1";
};

/// Payloads of calls.
[[nodiscard]] std::string configure_call();
[[nodiscard]] std::string synchronize_call(
    const std::vector<SaidPod>& pods,
    const std::vector<std::pair<std::string, SaidContainer>>& containers, bool more = false);
[[nodiscard]] std::string event_call(const SaidPod& pod, const SaidContainer& container = {});
[[nodiscard]] std::string state_change(int event, const SaidPod& pod,
                                       const SaidContainer& container = {});
[[nodiscard]] std::string update_call(const SaidPod& pod, const SaidContainer& container);

inline constexpr std::string_view kPluginService = "nri.pkg.api.v1alpha1.Plugin";

/// A call as it stands on the socket, in one mux frame, or in frames of at most `mux` bytes.
[[nodiscard]] std::string wire_call(std::uint32_t stream, std::string_view method,
                                    const std::string& payload,
                                    std::string_view service = kPluginService,
                                    std::size_t mux = SIZE_MAX);

/// Value: what was answered.
struct Answer {
  std::int32_t code = 0;
  std::string payload;
};
[[nodiscard]] Answer answer_of(const Frame& frame);

/// Resource: see the head of the file.
class FakeEngine final {
 public:
  /// Binds and listens; the directory must exist.
  explicit FakeEngine(std::string socket);
  ~FakeEngine();
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  /// The next connection, up to its RegisterPlugin, which is answered.
  void accept();
  /// accept(), Configure, and all pods in one Synchronize.
  void greet(const std::vector<SaidPod>& pods,
             const std::vector<std::pair<std::string, SaidContainer>>& containers = {});
  /// Calls, `cut` bytes per write, and waits for the answer.
  Answer call(std::string_view method, const std::string& payload, std::size_t cut = SIZE_MAX,
              std::string_view service = kPluginService);
  void send(std::string_view bytes);
  /// The same, until the plugin has read nothing for half a second; returns what it has taken.
  [[nodiscard]] std::size_t send_while_read(std::string_view bytes);
  /// Drops the connection; the socket stays.
  void hang_up() { connection_.reset(); }
  /// Blocks until the other side has closed.
  [[nodiscard]] bool was_left();

 private:
  [[nodiscard]] Frame next_frame(std::uint32_t connection);
  [[nodiscard]] std::string receive();

  std::string socket_;
  Fd listener_;
  Fd connection_;
  MuxReader mux_;
  FrameReader answers_, calls_;
  std::uint32_t stream_ = 1;
};

}  // namespace kcg::nri
