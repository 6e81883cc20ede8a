// SPDX-License-Identifier: Apache-2.0
//
// Unix sockets by path. Run roots of tests make paths longer than the 108 bytes of sun_path, so
// they are reached through a descriptor of their directory.
#pragma once

#include <chrono>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace kcg::standin {

[[nodiscard]] Result<Fd> listen_at(const std::string& path);
[[nodiscard]] Result<Fd> connect_to(const std::string& path);
[[nodiscard]] Status send_line(int fd, std::string text);
/// One line without its newline; `rest` keeps what came after it. ETIMEDOUT, ECONNRESET.
[[nodiscard]] Result<std::string> receive_line(int fd, std::string& rest,
                                               std::chrono::milliseconds patience);

/// `command` to a stand-in's control socket; the text after "ok", or the text of its error.
[[nodiscard]] Result<std::string> ask(const std::string& socket, const std::string& command);

}  // namespace kcg::standin
