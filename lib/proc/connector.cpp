// SPDX-License-Identifier: Apache-2.0
#include "proc/connector.hpp"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace kcg {

namespace {

constexpr int kReceiveBuffer = 8 << 20;  // some 30,000 events: an exec storm of several seconds
// The kernel doubles the buffer, and a message takes several hundred bytes of it.
constexpr std::size_t kMostQueued = 2 * kReceiveBuffer / 256;

// Offsets within a datagram: netlink header, connector header, event.
constexpr std::uint32_t kEvent = NLMSG_HDRLEN + sizeof(cn_msg);
constexpr std::uint32_t kWhat = kEvent + offsetof(proc_event, what);
constexpr std::uint32_t kData = kEvent + offsetof(proc_event, event_data);
constexpr std::uint32_t kChildPid = kData + 8;    // event_data.fork.child_pid
constexpr std::uint32_t kChildTgid = kData + 12;  // event_data.fork.child_tgid
constexpr std::uint32_t kCommTgid = kData + 4;    // event_data.comm.process_tgid

tl::unexpected<Error> fail_call(int code, const char* what) {
  return fail(code, "proc connector: {}: {}", what, errno_text(code));
}

// enum proc_cn_event; newer versions of the header keep it at another place than older ones.
constexpr std::uint32_t kNone = 0x0, kFork = 0x1, kExec = 0x2, kComm = 0x200;

/// A filter reads words in network order, the kernel wrote them in its own.
constexpr std::uint32_t swapped(std::uint32_t value) {
  if constexpr (std::endian::native == std::endian::big) return value;
  return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

constexpr std::uint32_t kAll = 0xffffffff;

/// Answers, execs, and thread events: of all processes, or of `pids`. The thread id of a new thread
/// is not its process's id.
std::vector<sock_filter> filter_for(const std::vector<Pid>* pids) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kWhat),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, swapped(kNone), 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, swapped(kExec), 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, swapped(kComm), 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, swapped(kFork), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kChildPid),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kChildTgid),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 3),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kAll),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCommTgid),
  };
  if (pids == nullptr) {
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
    return filter;
  }
  for (const Pid pid : *pids) {
    filter.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, swapped(static_cast<std::uint32_t>(pid)), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  return filter;
}

Status attach_filter(int fd, const std::vector<Pid>* pids) {
  auto filter = filter_for(pids);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    return fail_call(errno, "filter");
  return {};
}

/// All listeners hear the answers to all requests. Ours carries this number, plus one; the sequence
/// number that was sent does not come back.
std::uint32_t own_mark() { return static_cast<std::uint32_t>(::getpid()); }

/// PROC_CN_MCAST_LISTEN to the kernel.
int request_events(int fd) {
  nlmsghdr netlink{};
  cn_msg connector{};
  const proc_cn_mcast_op operation = PROC_CN_MCAST_LISTEN;
  std::array<std::byte, kEvent + sizeof operation> request{};
  netlink.nlmsg_len = request.size();
  netlink.nlmsg_type = NLMSG_DONE;
  connector.id = {CN_IDX_PROC, CN_VAL_PROC};
  connector.ack = own_mark();
  connector.len = sizeof operation;
  std::memcpy(request.data(), &netlink, sizeof netlink);
  std::memcpy(request.data() + NLMSG_HDRLEN, &connector, sizeof connector);
  std::memcpy(request.data() + kEvent, &operation, sizeof operation);
  return ::send(fd, request.data(), request.size(), 0) < 0 ? -1 : 0;
}

/// Events are stamped with CLOCK_MONOTONIC, which stands still while the machine sleeps. Rounded
/// up: none has happened later than it seems.
class Stamps final {
 public:
  Stamps() {
    const auto monotonic = now(CLOCK_MONOTONIC);
    ahead_ = now(CLOCK_BOOTTIME) - monotonic;
  }
  [[nodiscard]] Instant boottime(std::uint64_t monotonic_ns) const {
    const std::chrono::nanoseconds since(static_cast<std::int64_t>(monotonic_ns));
    return std::chrono::ceil<Instant>(since + ahead_);
  }

 private:
  static std::chrono::nanoseconds now(clockid_t clock) {
    timespec time{};
    (void)::clock_gettime(clock, &time);  // ignored: both clocks exist
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  std::chrono::nanoseconds ahead_{0};
};

std::optional<ProcEvent> decode(const std::byte* data, std::size_t size, const Stamps& stamps) {
  cn_msg message{};
  proc_event event{};
  if (size < kEvent + sizeof event) return std::nullopt;
  std::memcpy(&message, data + NLMSG_HDRLEN, sizeof message);
  std::memcpy(&event, data + kEvent, sizeof event);
  if (message.id.idx != CN_IDX_PROC || message.id.val != CN_VAL_PROC) return std::nullopt;
  const auto& facts = event.event_data;
  const auto at = stamps.boottime(event.timestamp_ns);
  switch (static_cast<std::uint32_t>(event.what)) {
    case kNone:
      if (message.ack != own_mark() + 1) return std::nullopt;
      return ProcEvent{ProcEvent::Kind::listening, 0, static_cast<int>(facts.ack.err), at, 0};
    case kExec:
      return ProcEvent{ProcEvent::Kind::exec, facts.exec.process_tgid, 0, at, 0};
    case kComm:
      return ProcEvent{ProcEvent::Kind::thread, facts.comm.process_tgid, 0, at,
                       facts.comm.process_pid};
    case kFork:
      return ProcEvent{ProcEvent::Kind::thread, facts.fork.child_tgid, 0, at, facts.fork.child_pid};
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<ProcConnector> ProcConnector::open() {
  Fd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!fd) return fail_call(errno, "socket");
  if (auto filtered = attach_filter(fd.get(), nullptr); !filtered) return forward(filtered.error());
  const int size = kReceiveBuffer;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
    return fail_call(errno, "receive buffer (needs CAP_NET_ADMIN)");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_call(errno, "bind");
  if (request_events(fd.get()) != 0) return fail_call(errno, "request");
  return ProcConnector(std::move(fd));
}

Status ProcConnector::hear_threads_of(const std::vector<Pid>& pids) {
  if (pids.size() > kMostHeard)
    return fail(E2BIG, "proc connector: filter: {} processes, at most {}", pids.size(), kMostHeard);
  return attach_filter(fd_.get(), &pids);
}

Status ProcConnector::hear_all_threads() { return attach_filter(fd_.get(), nullptr); }

Result<ProcEvents> ProcConnector::read() {
  ProcEvents result;
  auto count = receive(result.events);
  if (count || count.error().code != ENOBUFS) {
    if (count || count.error().code == EAGAIN || count.error().code == EINTR) return result;
    return forward(count.error());
  }
  // From the overflow on the kernel drops everything, without another word, until the queue is
  // empty. Only then is it known that what is looked at has everything. Who fills the queue again
  // at once does not keep us: when as much was read as it can hold, it has been empty.
  result.lost = true;
  for (std::size_t read = 0; read < kMostQueued; read += kBatch) {
    std::erase_if(result.events,
                  [](const ProcEvent& event) { return event.kind != ProcEvent::Kind::listening; });
    count = receive(result.events);
    const bool emptied = count ? *count < kBatch : count.error().code == EAGAIN;
    if (emptied) break;
  }
  return result;
}

Result<std::size_t> ProcConnector::receive(std::vector<ProcEvent>& events) {
  const Stamps stamps;
  auto count = receive_datagrams(fd_.get(), [&](std::span<const std::byte> datagram) {
    if (const auto event = decode(datagram.data(), datagram.size(), stamps))
      events.push_back(*event);
  });
  if (!count) return forward(count.error(), "proc connector");
  return count;
}

Status probe_connector(std::chrono::milliseconds patience) {
  auto connector = ProcConnector::open();
  if (!connector) return forward(connector.error());
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{connector->fd(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
      return fail(ETIMEDOUT,
                  "proc connector: no answer from the kernel: this is not the initial pid or user "
                  "namespace");
    const auto batch = connector->read();
    if (!batch) return forward(batch.error());
    for (const auto& event : batch->events) {
      if (event.kind != ProcEvent::Kind::listening) continue;
      if (event.code != 0) return fail_call(event.code, "request");
      return {};
    }
  }
}

}  // namespace kcg
