// SPDX-License-Identifier: Apache-2.0
#include "nri/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "nri.pb.h"

namespace kcg::nri {

namespace {

constexpr std::string_view kOverhead = "io.katacontainers.config.hypervisor.memory_overhead";
constexpr std::string_view kStateChange = "StateChange";
constexpr std::string_view kUpdateContainer = "UpdateContainer";

/// The kernel's own bound of a quota in microseconds; shares beyond it are nonsense as well.
constexpr std::uint64_t kSane = std::uint64_t{1} << 44;
/// What the kubelet writes when nothing was asked for.
constexpr std::uint64_t kNoShares = 2;

/// Events by their numbers, as StateChange has them, and the calls of their own.
constexpr std::array<std::string_view, 14> kEvents = {"",
                                                      "RunPodSandbox",
                                                      "StopPodSandbox",
                                                      "RemovePodSandbox",
                                                      "CreateContainer",
                                                      "PostCreateContainer",
                                                      "StartContainer",
                                                      "PostStartContainer",
                                                      kUpdateContainer,
                                                      "PostUpdateContainer",
                                                      "StopContainer",
                                                      "RemoveContainer",
                                                      "UpdatePodSandbox",
                                                      "PostUpdatePodSandbox"};

/// What we want to hear of. Each event costs every pod a call, so no more than is used; and none
/// above 11, which runtimes before NRI 0.10 refuse.
constexpr std::array<std::string_view, 6> kWanted = {"RunPodSandbox",       "RemovePodSandbox",
                                                     "PostCreateContainer", kUpdateContainer,
                                                     "PostUpdateContainer", "RemoveContainer"};

template <class Message>
Result<Message> parsed(std::string_view bytes, std::string_view what) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(0, "{} is no message of NRI", what);
  return message;
}

std::string kept(const std::string& text) { return text.size() > kMostText ? "" : text; }

Resources resources_of(const wire::LinuxResources& said) {
  Resources found;
  const auto& cpu = said.cpu();
  if (said.memory().has_limit()) found.memory_limit = said.memory().limit().value();
  if (cpu.has_quota()) found.cpu_quota = cpu.quota().value();
  if (cpu.has_period() && cpu.period().value() > 0) found.cpu_period = cpu.period().value();
  if (cpu.has_shares()) found.cpu_shares = cpu.shares().value();
  found.cpus = kept(cpu.cpus());
  found.mems = kept(cpu.mems());
  for (const auto& limit : said.hugepage_limits())
    if (found.hugepages.size() < 16 && limit.page_size().size() < 16)
      found.hugepages[limit.page_size()] = limit.limit();
  return found;
}

std::optional<std::uint64_t> milli_of_shares(const Resources& resources) {
  const auto shares = resources.cpu_shares.value_or(0);
  if (shares <= kNoShares || shares >= kSane) return std::nullopt;
  return (shares * 1000 + 1023) / 1024;
}

std::optional<std::uint64_t> milli_of_quota(const Resources& resources) {
  const auto quota = static_cast<std::uint64_t>(std::max<std::int64_t>(*resources.cpu_quota, 0));
  const auto period = resources.cpu_period.value_or(100'000);
  if (quota == 0 || quota >= kSane) return std::nullopt;
  return quota * 1000 / period;
}

PodAmounts limits_of(const Resources& resources) {
  PodAmounts amounts;
  if (resources.memory_limit.value_or(0) > 0)
    amounts.memory = static_cast<std::uint64_t>(*resources.memory_limit);
  if (resources.cpu_quota) amounts.cpu_milli = milli_of_quota(resources);
  return amounts;
}

/// The kubelet writes the overhead's CPU as shares and as quota; the quota is exact.
PodAmounts overhead_of(const Resources& resources) {
  auto amounts = limits_of(resources);
  if (!amounts.cpu_milli) amounts.cpu_milli = milli_of_shares(resources);
  return amounts;
}

PodNews pod_of(const wire::PodSandbox& pod) {
  PodNews news;
  news.id = kept(pod.id());
  auto& data = news.data;
  data.pod = {kept(pod.namespace_()), kept(pod.name()), kept(pod.uid())};
  data.handler = kept(pod.runtime_handler());
  data.cgroup_parent = kept(pod.linux().cgroup_parent());
  std::size_t bytes = 0;
  for (const auto& label : pod.labels()) {
    bytes += label.key().size() + label.value().size();
    if (bytes > kMostLabels) break;
    data.labels[label.key()] = label.value();
  }
  for (const auto& annotation : pod.annotations())
    if (annotation.key() == kOverhead && annotation.value().size() <= kMostText)
      data.overhead_annotation = annotation.value();
  data.overhead = overhead_of(resources_of(pod.linux().pod_overhead()));
  const auto resources = resources_of(pod.linux().pod_resources());
  data.limits = limits_of(resources);
  data.cpu_request_milli = milli_of_shares(resources);
  return news;
}

ContainerNews container_of(const wire::Container& container) {
  return {kept(container.pod_sandbox_id()), kept(container.id()),
          resources_of(container.linux().resources())};
}

/// What an event about this pod, and maybe this container, tells.
News news_of(std::string_view event, const wire::PodSandbox& pod,
             const wire::Container& container) {
  News news;
  if (event == "RemovePodSandbox") {
    news.pods_gone.push_back(kept(pod.id()));
    return news;
  }
  // Pods that end are told without their groups' paths: nothing new is learnt from them.
  if (event == "StopPodSandbox" || event.empty()) return news;
  news.pods.push_back(pod_of(pod));
  news.pods.back().in_passing = event != "RunPodSandbox";
  if (container.id().empty()) return news;
  auto one = container_of(container);
  if (event == "RemoveContainer") {
    one.resources = {};
    news.containers_gone.push_back(std::move(one));
  } else if (event != "StopContainer" && event != kUpdateContainer) {
    news.containers.push_back(std::move(one));
  }
  return news;
}

std::string_view event_named(std::int32_t number) {
  const bool known = number > 0 && static_cast<std::size_t>(number) < kEvents.size();
  return known ? kEvents.at(static_cast<std::size_t>(number)) : "";
}

Result<News> synchronize_news(std::string_view payload) {
  const auto said = parsed<wire::SynchronizeRequest>(payload, "Synchronize");
  if (!said) return forward(said.error());
  News news;
  news.whole = said->more() ? News::Whole::part : News::Whole::last;
  for (const auto& pod : said->pods()) news.pods.push_back(pod_of(pod));
  for (const auto& container : said->containers())
    news.containers.push_back(container_of(container));
  return news;
}

/// What is asked for now, over what was known before.
Result<News> update_news(std::string_view payload) {
  const auto said = parsed<wire::UpdateContainerRequest>(payload, kUpdateContainer);
  if (!said) return forward(said.error());
  auto news = news_of(kUpdateContainer, said->pod(), said->container());
  auto update = container_of(said->container());
  update.resources = resources_of(said->linux_resources());
  update.partial = true;
  news.containers.push_back(std::move(update));
  return news;
}

Result<News> configure_news(std::string_view payload) {
  const auto said = parsed<wire::ConfigureRequest>(payload, "Configure");
  if (!said) return forward(said.error());
  News news;
  news.runtime = escaped(said->runtime_name() + " " + said->runtime_version(), 100);
  return news;
}

}  // namespace

Result<Call> read_call(std::string_view body) {
  auto request = parsed<wire::Request>(body, "a call");
  if (!request) return forward(request.error());
  return Call{std::move(*request->mutable_service()), std::move(*request->mutable_method()),
              std::move(*request->mutable_payload())};
}

std::string answer_body(const std::string& payload) {
  wire::Response response;
  response.set_payload(payload);
  return response.SerializeAsString();
}

std::string refusal_body(std::int32_t code, std::string_view text) {
  wire::Response response;
  response.mutable_status()->set_code(code);
  response.mutable_status()->set_message(std::string(text));
  return response.SerializeAsString();
}

Status read_answer(std::string_view body) {
  const auto response = parsed<wire::Response>(body, "an answer");
  if (!response) return forward(response.error());
  const auto& status = response->status();
  if (status.code() == 0) return {};
  return fail(0, "the runtime refuses: {} (code {})", escaped(status.message(), 200),
              status.code());
}

std::string register_body(std::string_view name, std::string_view index) {
  wire::RegisterPluginRequest said;
  said.set_plugin_name(std::string(name));
  said.set_plugin_idx(std::string(index));
  wire::Request request;
  request.set_service("nri.pkg.api.v1alpha1.Runtime");
  request.set_method("RegisterPlugin");
  request.set_payload(said.SerializeAsString());
  return request.SerializeAsString();
}

std::string configure_payload() {
  std::int32_t mask = 0;
  for (std::size_t event = 1; event < kEvents.size(); ++event)
    if (std::find(kWanted.begin(), kWanted.end(), kEvents.at(event)) != kWanted.end())
      mask |= std::int32_t{1} << (event - 1);
  wire::ConfigureResponse response;
  response.set_events(mask);
  return response.SerializeAsString();
}

std::string synchronize_payload(std::string_view request) {
  const auto said = parsed<wire::SynchronizeMore>(request, "Synchronize");
  wire::SynchronizeResponse response;
  response.set_more(said && said->more());
  return response.SerializeAsString();
}

bool known_method(std::string_view method) {
  return !method.empty() && (method == "Configure" || method == "Synchronize" ||
                             method == "Shutdown" || method == kStateChange ||
                             std::find(kEvents.begin(), kEvents.end(), method) != kEvents.end());
}

Result<News> read_news(const Call& call) {
  if (call.method == "Configure") return configure_news(call.payload);
  if (call.method == "Synchronize") return synchronize_news(call.payload);
  if (call.method == "Shutdown") return News{};
  if (call.method == kUpdateContainer) return update_news(call.payload);
  if (call.method == kStateChange) {
    const auto said = parsed<wire::StateChangeEvent>(call.payload, kStateChange);
    if (!said) return forward(said.error());
    return news_of(event_named(said->event()), said->pod(), said->container());
  }
  const auto said = parsed<wire::EventRequest>(call.payload, call.method);
  if (!said) return forward(said.error());
  return news_of(call.method, said->pod(), said->container());
}

}  // namespace kcg::nri
