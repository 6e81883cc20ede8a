// SPDX-License-Identifier: Apache-2.0
#include "nri/frames.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kcg::nri {
namespace {

/// All that both readers make of `bytes`, cut into pieces of `cut`.
std::vector<Frame> read_all(const std::string& bytes, std::size_t cut) {
  MuxReader mux;
  FrameReader frames;
  std::vector<Frame> found;
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    const auto taken = mux.take(std::string_view(bytes).substr(at, cut),
                                [&](std::uint32_t connection, std::string_view piece) {
                                  if (connection == kPluginConnection) frames.add(piece);
                                });
    EXPECT_TRUE(taken);
    while (true) {
      const auto frame = frames.next();
      EXPECT_TRUE(frame);
      if (!frame || !*frame) break;
      found.push_back(**frame);
    }
  }
  return found;
}

TEST(NriFrames, AreTheSameHoweverTheyAreCut) {
  const std::vector<Frame> sent = {
      {1, Frame::kRequest, "first"}, {3, Frame::kResponse, ""}, {5, 3, std::string(300, 'x')}};
  std::string bytes;
  for (const auto& frame : sent) bytes += to_wire(kPluginConnection, frame);
  for (std::size_t cut = 1; cut <= bytes.size(); ++cut) EXPECT_EQ(read_all(bytes, cut), sent);
}

TEST(NriFrames, HeaderAndBodyAreTwoFramesOfTheMux) {
  EXPECT_EQ(to_wire(2, {1, Frame::kRequest, "ab"}),
            std::string("\0\0\0\2\0\0\0\12\0\0\0\2\0\0\0\1\1\0\0\0\0\2\0\0\0\2ab", 28));
  EXPECT_EQ(to_wire(1, {9, Frame::kResponse, ""}).size(), 18U) << "no empty frame of the mux";
}

TEST(NriFrames, OfOtherConnectionsArePassedOver) {
  const auto bytes = to_wire(7, {1, Frame::kRequest, "not ours"}) +
                     to_wire(kPluginConnection, {1, Frame::kRequest, "ours"});
  EXPECT_EQ(read_all(bytes, 3), (std::vector<Frame>{{1, Frame::kRequest, "ours"}}));
}

TEST(NriFrames, AreBounded) {
  MuxReader mux;
  const auto none = [](std::uint32_t, std::string_view) {};
  EXPECT_FALSE(mux.take(std::string_view("\0\0\0\1\2\0\0\0", 8), none));
  FrameReader frames;
  frames.add(std::string_view("\1\0\0\1\0\0\0\1\1\0", 10));
  EXPECT_FALSE(frames.next());
  FrameReader most;
  most.add(std::string_view("\1\0\0\0\0\0\0\1\1\0", 10));
  EXPECT_TRUE(most.next()) << "16 MiB are waited for";
}

}  // namespace
}  // namespace kcg::nri
