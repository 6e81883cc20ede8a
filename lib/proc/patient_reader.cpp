// SPDX-License-Identifier: Apache-2.0
#include "proc/patient_reader.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/signals.hpp"

namespace kcg {

/// One file to be read. Until it is answered it is the thread's, then the asker's.
struct PatientReader::Question {
  Fd file;
  std::unique_ptr<char[]> text;  ///< made by the asker, so that threads allocate nothing
  std::size_t most = 0;          ///< bytes that may be read
  std::size_t size = 0;          ///< that were
  int code = 0;
  bool answered = false;
};

struct PatientReader::Thread {
  std::condition_variable asked;
  std::shared_ptr<Question> question;  ///< nullptr: it has nothing to do
  pthread_t self{};
  std::optional<unsigned> cpu;  ///< where it has to run; nullopt: where who asks may

  void come_to(std::optional<unsigned> where) {
    cpu_set_t cpus;
    if (where == cpu || ::pthread_getaffinity_np(::pthread_self(), sizeof(cpus), &cpus) != 0)
      return;
    if (where) {
      CPU_ZERO(&cpus);
      CPU_SET(*where, &cpus);
    }
    if (::pthread_setaffinity_np(self, sizeof(cpus), &cpus) == 0) cpu = where;
  }
};

struct PatientReader::Shared {
  std::mutex mutex;
  std::condition_variable answered;
  std::vector<std::shared_ptr<Thread>> idle;
  std::size_t threads = 0;
  bool over = false;
};

namespace {

using std::chrono::steady_clock;

/// An answer that takes longer had to wait for a CPU, or hangs.
constexpr std::chrono::milliseconds kAtOnce{1};

/// A buffer of which so few bytes were touched is kept: to free one of 64 KiB makes the allocator
/// put all that is free together and give some of it back, which the next one asks for again.
constexpr std::size_t kLittle = std::size_t{16} << 10;

std::optional<unsigned> this_cpu() {
  const int cpu = ::sched_getcpu();
  return cpu < 0 ? std::nullopt : std::optional(static_cast<unsigned>(cpu));
}

/// Reads to the end, or to the end of the buffer.
int read_into(int fd, char* text, std::size_t most, std::size_t& size) {
  while (size < most) {
    const ssize_t got = ::read(fd, text + size, most - size);
    if (got == 0) return 0;
    if (got > 0) {
      size += static_cast<std::size_t>(got);
      continue;
    }
    const int code = errno;
    if (code != EINTR) return code;
  }
  return 0;
}

}  // namespace

PatientReader::PatientReader(Limits limits) : limits_(limits), shared_(new Shared) {
  shared_->idle.reserve(limits.threads);  // so that threads allocate nothing
}

PatientReader::~PatientReader() {
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
  for (const auto& thread : shared_->idle) thread->asked.notify_one();
}

Status PatientReader::add_thread() {
  const AllSignalsBlocked blocked;
  const auto thread = std::make_shared<Thread>();
  const auto work = [shared = shared_, thread] {
    std::unique_lock lock(shared->mutex);
    for (;;) {
      thread->asked.wait(lock, [&] { return shared->over || thread->question; });
      if (shared->over) return;
      const auto question = std::exchange(thread->question, nullptr);
      lock.unlock();
      const int code =
          read_into(question->file.get(), question->text.get(), question->most, question->size);
      question->file = Fd();
      lock.lock();
      question->code = code;
      question->answered = true;
      shared->idle.push_back(thread);
      lock.unlock();  // or who is woken waits for it
      shared->answered.notify_all();
      lock.lock();
    }
  };
  try {
    std::thread started(work);
    thread->self = started.native_handle();
    started.detach();
  } catch (const std::system_error& error) {
    return fail(EBUSY, "no thread to read it: {}", error.what());
  }
  shared_->idle.push_back(thread);
  ++shared_->threads;
  return {};
}

Result<std::string> PatientReader::read(const TaskKey& task,
                                        const std::function<Result<Fd>()>& open) {
  std::unique_lock lock(shared_->mutex);
  auto known = asked_.find(task);
  if (known == asked_.end()) {
    if (shared_->idle.empty()) {
      if (shared_->threads >= limits_.threads)
        return fail(EBUSY, "{} others hang already", shared_->threads);
      if (auto added = add_thread(); !added) return forward(added.error());
    }
    auto file = open();
    if (!file) return forward(file.error());
    auto question = std::make_shared<Question>();
    question->file = std::move(*file);
    question->text =
        spare_ ? std::move(spare_) : std::make_unique_for_overwrite<char[]>(limits_.bytes);
    question->most = limits_.bytes;
    const auto thread = std::move(shared_->idle.back());
    shared_->idle.pop_back();
    thread->question = question;
    known = asked_.emplace(task, std::move(question)).first;
    const auto now = steady_clock::now();
    thread->come_to(now < crowded_until_ ? this_cpu() : std::nullopt);
    lock.unlock();
    thread->asked.notify_one();
    lock.lock();
    (void)shared_->answered.wait_for(  // ignored: looked at below
        lock, limits_.patience, [&] { return known->second->answered; });
    const auto answered = steady_clock::now();
    if (answered - now > kAtOnce) crowded_until_ = answered + limits_.crowded;
  }
  if (!known->second->answered) return fail(EAGAIN, "it hangs");
  const auto question = std::move(known->second);
  asked_.erase(known);
  if (question->code != 0) return fail(question->code, "read: {}", errno_text(question->code));
  std::string text(question->text.get(), question->size);
  if (question->size <= kLittle) spare_ = std::move(question->text);
  return text;
}

void PatientReader::forget(Pid pid) {
  const std::lock_guard lock(shared_->mutex);
  std::erase_if(asked_, [pid](const auto& one) { return one.first.pid == pid; });
}

void PatientReader::forget_if(const std::function<bool(const TaskKey&)>& ended) {
  const std::lock_guard lock(shared_->mutex);
  std::erase_if(asked_, [&](const auto& one) { return ended(one.first); });
}

std::size_t PatientReader::hanging() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->threads - shared_->idle.size();
}

}  // namespace kcg
