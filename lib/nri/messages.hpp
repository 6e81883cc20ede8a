// SPDX-License-Identifier: Apache-2.0
//
// NRI's messages (L2): bytes <-> values. Texts that are longer than anything Kubernetes allows are
// not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "nri/news.hpp"

namespace kcg::nri {

/// Bounds of what is kept of one pod.
inline constexpr std::size_t kMostText = 4096;     ///< bytes of a name, a handler, a path
inline constexpr std::size_t kMostLabels = 16384;  ///< bytes of all labels; further ones are left

/// Value: a ttrpc call; the payload is not looked into.
struct Call {
  std::string service, method, payload;
};
[[nodiscard]] Result<Call> read_call(std::string_view body);
/// The body of an answer that carries `payload`.
[[nodiscard]] std::string answer_body(const std::string& payload);
/// The body of an answer that says no. `code`: of gRPC.
[[nodiscard]] std::string refusal_body(std::int32_t code, std::string_view text);
/// The answer to a call of ours: an error if the runtime says no.
[[nodiscard]] Status read_answer(std::string_view body);

/// The body of the call by which a plugin makes itself known.
[[nodiscard]] std::string register_body(std::string_view name, std::string_view index);
/// Payloads of answers.
[[nodiscard]] std::string configure_payload();
[[nodiscard]] std::string synchronize_payload(std::string_view request);

/// Whether the runtime may call this method of a plugin; all are answered in the same way but
/// Configure and Synchronize.
[[nodiscard]] bool known_method(std::string_view method);
/// What a call of a known method tells.
[[nodiscard]] Result<News> read_news(const Call& call);

}  // namespace kcg::nri
