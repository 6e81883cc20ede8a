// SPDX-License-Identifier: Apache-2.0
//
// Many messages of the kernel by one read (L5, internal to proc/).
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.hpp"

namespace kcg {

inline constexpr std::size_t kMostDatagrams = 64;
/// Of each; what is longer is cut.
inline constexpr std::size_t kDatagram = 256;

/// Hands over what the kernel has sent to a netlink socket; nobody else is believed. Never blocks.
/// Returns how many messages there were, at most kMostDatagrams; EAGAIN: none.
[[nodiscard]] Result<std::size_t> receive_datagrams(
    int fd, const std::function<void(std::span<const std::byte>)>& take);

}  // namespace kcg
