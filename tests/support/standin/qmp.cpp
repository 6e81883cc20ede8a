// SPDX-License-Identifier: Apache-2.0
#include "qmp.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "sockets.hpp"

namespace kcg::standin {

namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kPatience{120};  // a loaded machine without KVM

}  // namespace

Result<Qmp> Qmp::connect(const std::string& socket) {
  auto fd = connect_to(socket);
  if (!fd) return forward(fd.error(), "QMP");
  Qmp qmp(std::move(*fd));
  if (auto greeting = receive_line(qmp.fd_.get(), qmp.rest_, kPatience); !greeting)
    return forward(greeting.error(), "QMP greeting");
  if (auto done = qmp.execute(R"({"execute":"qmp_capabilities"})"); !done)
    return forward(done.error());
  return qmp;
}

Result<std::string> Qmp::execute(const std::string& command) {
  if (auto sent = send_line(fd_.get(), command); !sent) return forward(sent.error(), command);
  for (;;) {
    auto line = receive_line(fd_.get(), rest_, kPatience);
    if (!line) return forward(line.error(), command);
    const auto answer = Json::parse(*line, nullptr, false);
    if (answer.contains("return")) return answer["return"].dump();
    if (answer.contains("error")) return fail(0, "{}: {}", command, answer["error"].dump());
    // Anything else is an event that nobody waits for.
  }
}

Result<std::vector<Pid>> Qmp::threads_of(const std::string& command) {
  auto answer = execute(command);
  if (!answer) return forward(answer.error());
  std::vector<Pid> tids;
  const auto entries = Json::parse(*answer, nullptr, false);
  for (const auto& entry : entries) tids.push_back(entry.at("thread-id").get<Pid>());
  return tids;
}

Result<std::vector<Pid>> Qmp::vcpu_threads() {
  return threads_of(R"({"execute":"query-cpus-fast"})");
}

Result<std::vector<Pid>> Qmp::io_threads() {
  return threads_of(R"({"execute":"query-iothreads"})");
}

Result<Pid> Qmp::plug_vcpu() {
  const auto before = vcpu_threads();
  auto answer = execute(R"({"execute":"query-hotpluggable-cpus"})");
  if (!before || !answer) return forward(before ? answer.error() : before.error());
  const auto slots = Json::parse(*answer, nullptr, false);
  // QEMU lists the highest number first; Kata fills from the lowest.
  const auto slot = std::find_if(slots.rbegin(), slots.rend(),
                                 [](const Json& s) { return !s.contains("qom-path"); });
  if (slot == slots.rend()) return fail(0, "every vCPU is plugged already");
  Json arguments = slot->at("props");
  arguments["driver"] = slot->at("type");
  arguments["id"] = "cpu-" + std::to_string(before->size());
  const Json command = {{"execute", "device_add"}, {"arguments", arguments}};
  if (auto done = execute(command.dump()); !done) return forward(done.error());
  const auto after = vcpu_threads();
  if (!after) return forward(after.error());
  for (const Pid tid : *after)
    if (std::find(before->begin(), before->end(), tid) == before->end()) return tid;
  return fail(0, "device_add made no thread");
}

Status Qmp::fill_memory(std::uint64_t mib) {
  const Json arguments = {{"qom-type", "memory-backend-ram"},
                          {"id", "plugged" + std::to_string(filled_++)},
                          {"size", mib << 20},
                          {"prealloc", true}};
  const Json add = {{"execute", "object-add"}, {"arguments", arguments}};
  if (auto done = execute(add.dump()); !done) return forward(done.error());
  return {};
}

Status Qmp::open_device(const std::string& path) {
  const Json arguments = {{"qom-type", "rng-random"}, {"id", "probe"}, {"filename", path}};
  const Json add = {{"execute", "object-add"}, {"arguments", arguments}};
  const Json remove = {{"execute", "object-del"}, {"arguments", {{"id", "probe"}}}};
  for (const auto& command : {add, remove})
    if (auto done = execute(command.dump()); !done) return forward(done.error());
  return {};
}

}  // namespace kcg::standin
