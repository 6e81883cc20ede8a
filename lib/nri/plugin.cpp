// SPDX-License-Identifier: Apache-2.0
#include "nri/plugin.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace kcg::nri {

namespace {

constexpr std::string_view kService = "nri.pkg.api.v1alpha1.Plugin";
constexpr std::int32_t kUnimplemented = 12;  // gRPC's code

std::string body_for(const Call& call) {
  if (call.method == "Configure") return answer_body(configure_payload());
  if (call.method == "Synchronize") return answer_body(synchronize_payload(call.payload));
  return answer_body("");
}

}  // namespace

std::string Plugin::hello() {
  return to_wire(kRuntimeConnection, {1, Frame::kRequest, register_body("kata-cgroupd", "90")});
}

Status Plugin::take(std::string_view bytes, std::string& out) {
  const auto cut = mux_.take(bytes, [this](std::uint32_t connection, std::string_view piece) {
    if (connection == kPluginConnection) calls_.add(piece);
    if (connection == kRuntimeConnection) answers_.add(piece);
  });
  if (!cut) return cut;
  if (auto served = serve(out); !served) return served;
  return hear_answers();
}

Status Plugin::serve(std::string& out) {
  while (true) {
    const auto frame = calls_.next();
    if (!frame) return forward(frame.error());
    if (!*frame) return {};
    if ((*frame)->type != Frame::kRequest) continue;  // streams are none of ours
    if (auto answered = answer(**frame, out); !answered) return answered;
  }
}

Status Plugin::answer(const Frame& frame, std::string& out) {
  auto call = read_call(frame.body);
  if (!call) return forward(call.error());
  const bool known = call->service == kService && known_method(call->method);
  const auto body = known ? body_for(*call)
                          : refusal_body(kUnimplemented, fmt::format("{}/{} is not implemented",
                                                                     escaped(call->service, 100),
                                                                     escaped(call->method, 100)));
  out += to_wire(kPluginConnection, {frame.stream, Frame::kResponse, body});
  if (!known) return {};
  told_bytes_ += call->payload.size();
  told_.push_back(*std::move(call));
  if (told_.size() > kMostCalls || told_bytes_ > kMostBytes)
    return fail(0, "more than {} calls at once", kMostCalls);
  return {};
}

/// The one call of ours is that by which we register.
Status Plugin::hear_answers() {
  while (true) {
    const auto frame = answers_.next();
    if (!frame) return forward(frame.error());
    if (!*frame) return {};
    if (auto good = read_answer((*frame)->body); !good) return good;
  }
}

Result<std::optional<News>> Plugin::news() {
  if (told_.empty()) return std::nullopt;
  const auto call = std::move(told_.front());
  told_.pop_front();
  told_bytes_ -= call.payload.size();
  auto news = read_news(call);
  if (!news) return forward(news.error());
  return *std::move(news);
}

}  // namespace kcg::nri
