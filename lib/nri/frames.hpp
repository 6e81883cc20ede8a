// SPDX-License-Identifier: Apache-2.0
//
// The two framings of NRI (L2): a mux that carries numbered connections over one socket, and
// ttrpc, whose frames such a connection carries as a stream of bytes. Both are read in whatever
// pieces they come, and bounded. Source: containerd/nri pkg/net/multiplex, containerd/ttrpc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kcg::nri {

/// Logical connections of the mux. Frames of others are passed over.
inline constexpr std::uint32_t kPluginConnection = 1;   ///< the runtime calls, we answer
inline constexpr std::uint32_t kRuntimeConnection = 2;  ///< we call, the runtime answers

/// Bytes of the largest ttrpc body that is taken. Runtimes keep to 4 MiB from NRI 0.8 on; earlier
/// ones send what they have in one.
inline constexpr std::size_t kMostBody = std::size_t{16} << 20;

/// Value: one ttrpc frame.
struct Frame {
  static constexpr std::uint8_t kRequest = 1;
  static constexpr std::uint8_t kResponse = 2;
  std::uint32_t stream = 0;
  std::uint8_t type = 0;
  std::string body;
  bool operator==(const Frame&) const = default;
};

/// The frame in the mux's frames. Header and body are two of them: a Go reader with its buffer of
/// 4096 bytes fails on a longer first one.
[[nodiscard]] std::string to_wire(std::uint32_t connection, const Frame& frame);

/// Value: takes the mux apart.
class MuxReader final {
 public:
  using Piece = std::function<void(std::uint32_t connection, std::string_view bytes)>;
  /// Calls `piece` with all payload in `bytes`, in order. Error: a frame that is too long.
  [[nodiscard]] Status take(std::string_view bytes, const Piece& piece);

 private:
  static constexpr std::size_t kHeader = 8;
  std::array<char, kHeader> header_{};
  std::size_t have_ = 0;  ///< bytes of the header
  std::uint32_t connection_ = 0;
  std::size_t left_ = 0;  ///< of the payload
};

/// Value: ttrpc frames of one connection.
class FrameReader final {
 public:
  void add(std::string_view bytes);
  /// nullopt: not all of it has come. Error: it is too long; nothing after it can be read.
  [[nodiscard]] Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
  std::size_t at_ = 0;  ///< everything before was taken
};

}  // namespace kcg::nri
