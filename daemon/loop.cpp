// SPDX-License-Identifier: Apache-2.0
#include "daemon/loop.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include "daemon/failure_count.hpp"

namespace kcg {

namespace {

/// Timers nearer than this are kept to the microsecond: the looks at a new vCPU thread 1, 2, 4 ms
/// after its birth. Later ones may be late by a quarter of a second, to share wake-ups.
constexpr Instant kExactWithin = std::chrono::seconds(1);
constexpr std::uint64_t kExact = 1;
constexpr std::uint64_t kRelaxed = 250'000;

tl::unexpected<Error> fail_call(int result, const char* what) {
  return fail(-result, "{}: {}", what, errno_text(-result));
}

}  // namespace

/// Value: what callbacks have thrown of late.
struct Loop::Failures {
  std::function<void(const std::string&)> told = [](const std::string&) {};
  FailureCount count;
  std::string fatal;  ///< "" as long as the loop goes on

  void add(const std::string& what) {
    if (!count.add(SystemClock().now())) fatal = what;
    try {
      told(what);
    } catch (...) {
      fatal = what;
    }
  }
};

Loop::Loop(sd_event* event) : event_(event), failures_(std::make_shared<Failures>()) {}

void Loop::on_failure(std::function<void(const std::string&)> told) {
  failures_->told = std::move(told);
}

/// Resource: one event source and what it calls. `act` is shared with the call that is under way,
/// because an action may end its own registration.
struct Source::Impl {
  std::shared_ptr<std::function<void(std::uint32_t)>> act;
  std::shared_ptr<Loop::Failures> failures;
  sd_event_source* source = nullptr;

  Impl(std::function<void(std::uint32_t)> action, std::shared_ptr<Loop::Failures> whom)
      : act(std::make_shared<std::function<void(std::uint32_t)>>(std::move(action))),
        failures(std::move(whom)) {}
  ~Impl() { sd_event_source_disable_unref(source); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static int call(sd_event_source* from, void* impl, std::uint32_t events) {
    const auto action = static_cast<Impl*>(impl)->act;
    const auto failures = static_cast<Impl*>(impl)->failures;
    sd_event* event = sd_event_source_get_event(from);
    try {
      (*action)(events);
    } catch (const std::exception& error) {
      failures->add(error.what());
    } catch (...) {
      failures->add("unknown exception");
    }
    return failures->fatal.empty() ? 0 : sd_event_exit(event, 1);
  }
  static int on_io(sd_event_source* from, int, std::uint32_t events, void* impl) {
    return call(from, impl, events);
  }
  static int on_time(sd_event_source* from, std::uint64_t, void* impl) {
    return call(from, impl, 0);
  }
  static int on_defer(sd_event_source* from, void* impl) { return call(from, impl, 0); }
  /// Sources of one priority are served by age. Whatever was ready when this one was made is older
  /// than the source that takes its place here; what gets ready later is younger.
  static int on_soon(sd_event_source* from, void* impl) {
    auto* const self = static_cast<Impl*>(impl);
    sd_event_source* next = nullptr;
    const int r = sd_event_add_defer(sd_event_source_get_event(from), &next, on_defer, impl);
    if (r < 0) return call(from, impl, 0);
    self->source = next;
    sd_event_source_disable_unref(from);
    return 0;
  }
  static int on_signal(sd_event_source* from, const signalfd_siginfo*, void* impl) {
    return call(from, impl, 0);
  }
};

Source::Source(std::unique_ptr<Impl> impl) : impl_(impl.release()) {}

void Source::Deleter::operator()(Impl* impl) const { delete impl; }

Result<std::unique_ptr<Loop>> Loop::create() {
  sd_event* event = nullptr;
  if (const int r = sd_event_new(&event); r < 0) return fail_call(r, "sd_event_new");
  std::unique_ptr<Loop> loop(new Loop(event));
  // The first timer needs a descriptor. When there are none left, what could not be done is tried
  // again by a timer: so the first one is made now, and never ends.
  auto first = loop->at(Instant::max(), [] {});
  if (!first) return forward(first.error());
  loop->first_timer_ = std::move(*first);
  return loop;
}

Loop::~Loop() {
  first_timer_ = Source();
  sd_event_unref(event_);
}

Result<Source> Loop::on_fd(int fd, std::uint32_t events, std::function<void(std::uint32_t)> act) {
  auto impl = std::make_unique<Source::Impl>(std::move(act), failures_);
  const int r = sd_event_add_io(event_, &impl->source, fd, events, Source::Impl::on_io, impl.get());
  if (r < 0) return fail_call(r, "sd_event_add_io");
  return Source(std::move(impl));
}

Result<Source> Loop::at(Instant when, std::function<void()> act) {
  auto impl =
      std::make_unique<Source::Impl>([act = std::move(act)](std::uint32_t) { act(); }, failures_);
  const bool near = when - SystemClock().now() < kExactWithin;
  const int r = sd_event_add_time(event_, &impl->source, CLOCK_BOOTTIME,
                                  static_cast<std::uint64_t>(when.count()),
                                  near ? kExact : kRelaxed, Source::Impl::on_time, impl.get());
  if (r < 0) return fail_call(r, "sd_event_add_time");
  return Source(std::move(impl));
}

Result<Source> Loop::soon(std::function<void()> act) {
  auto impl =
      std::make_unique<Source::Impl>([act = std::move(act)](std::uint32_t) { act(); }, failures_);
  const int r = sd_event_add_defer(event_, &impl->source, Source::Impl::on_soon, impl.get());
  if (r < 0) return fail_call(r, "sd_event_add_defer");
  return Source(std::move(impl));
}

Result<Source> Loop::on_signal(int signal, std::function<void()> act) {
  auto impl =
      std::make_unique<Source::Impl>([act = std::move(act)](std::uint32_t) { act(); }, failures_);
  int r = sd_event_add_signal(event_, &impl->source, signal, Source::Impl::on_signal, impl.get());
  if (r >= 0) r = sd_event_source_set_priority(impl->source, SD_EVENT_PRIORITY_IMPORTANT);
  if (r < 0) return fail_call(r, "sd_event_add_signal");
  return Source(std::move(impl));
}

Result<int> Loop::run() {
  const int r = sd_event_loop(event_);
  if (const auto& fatal = failures_->fatal; !fatal.empty())
    return fail(0, "handlers of the event loop fail again and again: {}", fatal);
  if (r < 0) return fail_call(r, "sd_event_loop");
  return r;
}

void Loop::exit(int code) {
  (void)sd_event_exit(event_, code);  // ignored: fails only when the loop has ended already
}

}  // namespace kcg
