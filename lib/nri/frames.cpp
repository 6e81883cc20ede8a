// SPDX-License-Identifier: Apache-2.0
#include "nri/frames.hpp"

#include <algorithm>

namespace kcg::nri {

namespace {

constexpr std::size_t kFrameHeader = 10;
/// A buffer that has grown beyond is given back when it is empty.
constexpr std::size_t kKept = std::size_t{1} << 20;

void put_u32(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    out.push_back(static_cast<char>(static_cast<unsigned char>(value >> shift)));
}

std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(at, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

void put_mux(std::string& out, std::uint32_t connection, std::string_view payload) {
  put_u32(out, connection);
  put_u32(out, static_cast<std::uint32_t>(payload.size()));
  out += payload;
}

}  // namespace

std::string to_wire(std::uint32_t connection, const Frame& frame) {
  std::string header;
  put_u32(header, static_cast<std::uint32_t>(frame.body.size()));
  put_u32(header, frame.stream);
  header.push_back(static_cast<char>(frame.type));
  header.push_back('\0');  // flags: a call and its answer, and no stream
  std::string out;
  put_mux(out, connection, header);
  if (!frame.body.empty()) put_mux(out, connection, frame.body);
  return out;
}

Status MuxReader::take(std::string_view bytes, const Piece& piece) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const auto part = bytes.substr(0, left_);
      left_ -= part.size();
      bytes.remove_prefix(part.size());
      piece(connection_, part);
      continue;
    }
    const auto part = bytes.substr(0, kHeader - have_);
    std::copy(part.begin(), part.end(), header_.data() + have_);
    have_ += part.size();
    bytes.remove_prefix(part.size());
    if (have_ < kHeader) break;
    have_ = 0;
    const std::string_view header(header_.data(), kHeader);
    connection_ = u32_at(header, 0);
    left_ = u32_at(header, 4);
    if (left_ > kMostBody + kFrameHeader)
      return fail(0, "a frame of {} bytes on connection {}", left_, connection_);
  }
  return {};
}

void FrameReader::add(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKept) buffer_.shrink_to_fit();
  buffer_ += bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  const auto rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kFrameHeader) return std::nullopt;
  const std::size_t length = u32_at(rest, 0);
  if (length > kMostBody) return fail(0, "a message of {} bytes", length);
  if (rest.size() < kFrameHeader + length) return std::nullopt;
  at_ += kFrameHeader + length;
  return Frame{u32_at(rest, 4), static_cast<std::uint8_t>(rest[8]),
               std::string(rest.substr(kFrameHeader, length))};
}

}  // namespace kcg::nri
