// SPDX-License-Identifier: Apache-2.0
#include "proc/task_names.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "proc/datagrams.hpp"

namespace kcg {

namespace {

using Bytes = std::span<const std::byte>;

tl::unexpected<Error> fail_call(int code, std::string_view what) {
  return fail(code, "taskstats: {}: {}", what, errno_text(code));
}

/// Value: what is sent: one attribute, which is a number or a short text.
template <class Payload>
struct Request {
  nlmsghdr message{};
  genlmsghdr command{};
  nlattr attribute{};
  Payload payload{};
};

template <class Payload>
Request<Payload> request(std::uint16_t family, std::uint8_t command, std::uint16_t attribute,
                         const Payload& payload, std::uint32_t sequence) {
  static_assert(sizeof(Payload) % NLA_ALIGNTO == 0);
  Request<Payload> one;
  one.message.nlmsg_len = sizeof one;
  one.message.nlmsg_type = family;
  one.message.nlmsg_flags = NLM_F_REQUEST;
  one.message.nlmsg_seq = sequence;
  one.command.cmd = command;
  one.command.version = 1;
  one.attribute.nla_len = sizeof one.attribute + sizeof payload;
  one.attribute.nla_type = attribute;
  one.payload = payload;
  return one;
}

template <class T>
std::optional<T> copy(Bytes bytes, std::size_t at = 0) {
  T value;
  if (bytes.size() < at + sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// What an attribute of this type holds, as far as it was received; empty: there is none.
Bytes attribute(Bytes attributes, std::uint16_t type) {
  for (std::size_t at = 0; const auto head = copy<nlattr>(attributes, at);) {
    if (head->nla_len < sizeof *head) return {};
    const auto size = std::min<std::size_t>(head->nla_len, attributes.size() - at);
    if ((head->nla_type & NLA_TYPE_MASK) == type)
      return attributes.subspan(at + sizeof *head, size - sizeof *head);
    at += static_cast<std::size_t>(NLA_ALIGN(head->nla_len));
  }
  return {};
}

/// The attributes of an answer; empty: it is none.
Bytes attributes_of(Bytes datagram, std::uint16_t family) {
  const auto head = copy<nlmsghdr>(datagram);
  if (!head || head->nlmsg_type != family || datagram.size() < NLMSG_HDRLEN + GENL_HDRLEN)
    return {};
  return datagram.subspan(NLMSG_HDRLEN + GENL_HDRLEN);
}

/// The errno that was answered instead, or 0.
int refusal(Bytes datagram) {
  const auto head = copy<nlmsghdr>(datagram);
  if (!head || head->nlmsg_type != NLMSG_ERROR) return 0;
  return -copy<nlmsgerr>(datagram, NLMSG_HDRLEN).value_or(nlmsgerr{}).error;
}

/// nullopt: it does not say.
std::optional<TaskName> name_in(Bytes datagram, std::uint16_t family) {
  const auto process = attribute(attributes_of(datagram, family), TASKSTATS_TYPE_AGGR_PID);
  const auto stats = attribute(process, TASKSTATS_TYPE_STATS);
  const auto comm = copy<std::array<char, TS_COMM_LEN>>(stats, offsetof(struct taskstats, ac_comm));
  const auto parent = copy<std::uint32_t>(stats, offsetof(struct taskstats, ac_ppid));
  if (!comm || !parent || comm->front() == '\0') return std::nullopt;
  return TaskName{{comm->begin(), std::find(comm->begin(), comm->end(), '\0')},
                  static_cast<Pid>(*parent)};
}

}  // namespace

Result<TaskNames> TaskNames::open() {
  TaskNames names(
      Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC)));
  if (!names.fd_) return fail_call(errno, "socket");
  if (auto found = names.find_family(); !found) return forward(found.error());
  const Pid self = ::getpid();
  const auto own = names.ask({self}).front();
  if (!own) return fail_call(ENOENT, "our own name");
  if (!*own) return forward(own->error());
  if ((*own)->ppid != ::getppid()) return fail_call(ENOENT, "our own parent");
  return names;
}

Status TaskNames::find_family() {
  std::array<char, GENL_NAMSIZ> name{};
  std::string_view(TASKSTATS_GENL_NAME).copy(name.data(), name.size() - 1);
  const auto asked =
      request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name, ++sequence_);
  if (::send(fd_.get(), &asked, sizeof asked, 0) < 0) return fail_call(errno, "family");
  int code = ENOENT;
  const auto received = receive_datagrams(fd_.get(), [&](Bytes datagram) {
    const auto id =
        copy<std::uint16_t>(attribute(attributes_of(datagram, GENL_ID_CTRL), CTRL_ATTR_FAMILY_ID));
    family_ = id.value_or(family_);
    code = refusal(datagram);
  });
  if (!received) return forward(received.error(), "taskstats: family");
  if (family_ == 0) return fail_call(code == 0 ? ENOENT : code, "family");
  return {};
}

TaskNames::Answers TaskNames::ask(const std::vector<Pid>& pids) {
  Answers answers(pids.size());
  for (std::size_t at = 0; at < pids.size(); at += kMostDatagrams) {
    const auto count = std::min(pids.size() - at, kMostDatagrams);
    ask_portion(std::span(pids).subspan(at, count), std::span(answers).subspan(at, count));
  }
  return answers;
}

void TaskNames::ask_portion(std::span<const Pid> pids, std::span<Answers::value_type> answers) {
  const auto first = sequence_ + 1;
  std::vector<Request<std::uint32_t>> requests;
  requests.reserve(pids.size());
  for (const Pid pid : pids)
    requests.push_back(request(family_, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID,
                               static_cast<std::uint32_t>(pid), ++sequence_));
  const auto size = requests.size() * sizeof requests.front();
  if (::send(fd_.get(), requests.data(), size, 0) < 0) return;
  const auto take = [&](Bytes datagram) {
    const auto head = copy<nlmsghdr>(datagram);
    if (!head || head->nlmsg_seq - first >= pids.size()) return;  // asked for earlier
    const auto number = head->nlmsg_seq - first;
    if (refusal(datagram) == ESRCH)
      answers[number] = fail_call(ESRCH, std::to_string(pids[number]));
    else if (auto name = name_in(datagram, family_))
      answers[number] = std::move(*name);
  };
  for (std::size_t heard = 0; heard < pids.size();) {
    const auto count = receive_datagrams(fd_.get(), take).value_or(0);
    if (count == 0) return;
    heard += count;
  }
}

}  // namespace kcg
