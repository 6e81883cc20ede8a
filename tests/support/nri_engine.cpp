// SPDX-License-Identifier: Apache-2.0
#include "support/nri_engine.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "nri.pb.h"

namespace kcg::nri {

namespace {

constexpr int kPatienceMs = 60'000;

void fill(wire::LinuxResources& to, std::int64_t memory, std::int64_t quota) {
  to.mutable_memory()->mutable_limit()->set_value(memory);
  to.mutable_cpu()->mutable_quota()->set_value(quota);
  to.mutable_cpu()->mutable_period()->set_value(100'000);
}

void fill(wire::PodSandbox& to, const SaidPod& pod) {
  to.set_id(pod.id);
  to.set_name(pod.name);
  to.set_namespace_("tests");
  to.set_uid(pod.uid);
  to.set_runtime_handler("kata");
  const auto put = [](auto* pairs, const auto& from) {
    for (const auto& [key, value] : from) {
      auto* pair = pairs->Add();
      pair->set_key(key);
      pair->set_value(value);
    }
  };
  put(to.mutable_labels(), pod.labels);
  put(to.mutable_annotations(), pod.annotations);
  auto* linux_part = to.mutable_linux();
  linux_part->set_cgroup_parent(pod.cgroup_parent);
  fill(*linux_part->mutable_pod_overhead(), pod.overhead_memory, pod.overhead_quota);
  linux_part->mutable_pod_resources()->mutable_cpu()->mutable_shares()->set_value(pod.shares);
}

void fill(wire::Container& to, const std::string& pod, const SaidContainer& container) {
  to.set_id(container.id);
  to.set_pod_sandbox_id(pod);
  fill(*to.mutable_linux()->mutable_resources(), container.memory, container.quota);
}

template <class Message>
void fill_both(Message& to, const SaidPod& pod, const SaidContainer& container) {
  fill(*to.mutable_pod(), pod);
  if (!container.id.empty()) fill(*to.mutable_container(), pod.id, container);
}

void wait_for(int fd, short what) {
  pollfd one{fd, what, 0};
  if (::poll(&one, 1, kPatienceMs) <= 0) throw std::runtime_error("nothing happens on the socket");
}

}  // namespace

std::string configure_call() {
  wire::ConfigureRequest request;
  request.set_runtime_name("fake");
  request.set_runtime_version("1");
  return request.SerializeAsString();
}

std::string synchronize_call(const std::vector<SaidPod>& pods,
                             const std::vector<std::pair<std::string, SaidContainer>>& containers,
                             bool more) {
  wire::SynchronizeRequest request;
  for (const auto& pod : pods) fill(*request.add_pods(), pod);
  for (const auto& [pod, container] : containers) fill(*request.add_containers(), pod, container);
  request.set_more(more);
  return request.SerializeAsString();
}

std::string event_call(const SaidPod& pod, const SaidContainer& container) {
  wire::EventRequest request;
  fill_both(request, pod, container);
  return request.SerializeAsString();
}

std::string state_change(int event, const SaidPod& pod, const SaidContainer& container) {
  wire::StateChangeEvent request;
  request.set_event(event);
  fill_both(request, pod, container);
  return request.SerializeAsString();
}

std::string update_call(const SaidPod& pod, const SaidContainer& container) {
  wire::UpdateContainerRequest request;
  fill_both(request, pod, {container.id});
  fill(*request.mutable_linux_resources(), container.memory, container.quota);
  return request.SerializeAsString();
}

std::string wire_call(std::uint32_t stream, std::string_view method, const std::string& payload,
                      std::string_view service, std::size_t mux) {
  wire::Request request;
  request.set_service(std::string(service));
  request.set_method(std::string(method));
  request.set_payload(payload);
  request.set_timeout_nano(2'000'000'000);
  const auto framed = to_wire(0, {stream, Frame::kRequest, request.SerializeAsString()});
  // Without the mux's two headers, and with others.
  const auto bytes = framed.substr(8, 10) + framed.substr(std::min<std::size_t>(26, framed.size()));
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += std::min(mux, bytes.size() - at)) {
    const auto part = std::string_view(bytes).substr(at, mux);
    for (const std::uint32_t word : {kPluginConnection, static_cast<std::uint32_t>(part.size())})
      for (const unsigned shift : {24U, 16U, 8U, 0U})
        out.push_back(static_cast<char>(static_cast<unsigned char>(word >> shift)));
    out += part;
  }
  return out;
}

Answer answer_of(const Frame& frame) {
  wire::Response response;
  if (frame.type != Frame::kResponse || !response.ParseFromString(frame.body))
    throw std::runtime_error("no answer");
  return {response.status().code(), response.payload()};
}

FakeEngine::FakeEngine(std::string socket) : socket_(std::move(socket)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
  ::unlink(socket_.c_str());
  listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0 ||
      ::listen(listener_.get(), 8) < 0)
    throw std::runtime_error("cannot listen on " + socket_);
}

FakeEngine::~FakeEngine() { ::unlink(socket_.c_str()); }

void FakeEngine::accept() {
  wait_for(listener_.get(), POLLIN);
  connection_ = Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  mux_ = {};
  answers_ = {};
  calls_ = {};
  stream_ = 1;
  const auto frame = next_frame(kRuntimeConnection);
  wire::Request request;
  if (!request.ParseFromString(frame.body) || request.method() != "RegisterPlugin")
    throw std::runtime_error("the plugin does not register");
  send(to_wire(kRuntimeConnection, {frame.stream, Frame::kResponse, ""}));
}

void FakeEngine::greet(const std::vector<SaidPod>& pods,
                       const std::vector<std::pair<std::string, SaidContainer>>& containers) {
  accept();
  (void)call("Configure", configure_call());                      // ignored: other tests look at it
  (void)call("Synchronize", synchronize_call(pods, containers));  // ignored: likewise
}

Answer FakeEngine::call(std::string_view method, const std::string& payload, std::size_t cut,
                        std::string_view service) {
  const auto bytes = wire_call(stream_, method, payload, service);
  for (std::size_t at = 0; at < bytes.size(); at += std::min(cut, bytes.size() - at))
    send(std::string_view(bytes).substr(at, cut));
  const auto frame = next_frame(kPluginConnection);
  if (frame.stream != stream_) throw std::runtime_error("an answer to another call");
  stream_ += 2;
  return answer_of(frame);
}

void FakeEngine::send(std::string_view bytes) {
  while (!bytes.empty()) {
    wait_for(connection_.get(), POLLOUT);
    const auto sent = ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) throw std::runtime_error("the plugin has gone");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t FakeEngine::send_while_read(std::string_view bytes) {
  constexpr int kStuckMs = 500;
  std::size_t taken = 0;
  pollfd one{connection_.get(), POLLOUT, 0};
  while (taken < bytes.size() && ::poll(&one, 1, kStuckMs) > 0) {
    const auto rest = bytes.substr(taken);
    const auto sent =
        ::send(connection_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) throw std::runtime_error("the plugin has gone");
    if (sent > 0) taken += static_cast<std::size_t>(sent);
  }
  return taken;
}

std::string FakeEngine::receive() {
  wait_for(connection_.get(), POLLIN);
  std::array<char, 4096> buffer{};
  const auto got = ::recv(connection_.get(), buffer.data(), buffer.size(), 0);
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

bool FakeEngine::was_left() {
  while (!receive().empty()) continue;
  return true;
}

Frame FakeEngine::next_frame(std::uint32_t connection) {
  auto& frames = connection == kPluginConnection ? answers_ : calls_;
  while (true) {
    auto frame = frames.next();
    if (frame && *frame) return **frame;
    const auto bytes = receive();
    if (bytes.empty()) throw std::runtime_error("the plugin has hung up");
    const auto cut = mux_.take(bytes, [this](std::uint32_t from, std::string_view piece) {
      (from == kPluginConnection ? answers_ : calls_).add(piece);
    });
    if (!cut) throw std::runtime_error(cut.error().text);
  }
}

}  // namespace kcg::nri
