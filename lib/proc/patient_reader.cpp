// SPDX-License-Identifier: Apache-2.0
#include "proc/patient_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

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

struct PatientReader::Shared {
  std::mutex mutex;
  std::condition_variable asked;
  std::condition_variable answered;
  std::deque<std::shared_ptr<Question>> waiting;
  std::size_t threads = 0;
  std::size_t busy = 0;  ///< threads that read
  bool over = false;
};

namespace {

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

PatientReader::PatientReader(Limits limits) : limits_(limits), shared_(new Shared) {}

PatientReader::~PatientReader() {
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
  shared_->asked.notify_all();
}

Status PatientReader::add_thread() {
  const AllSignalsBlocked blocked;
  const auto work = [shared = shared_] {
    std::unique_lock lock(shared->mutex);
    for (;;) {
      shared->asked.wait(lock, [&] { return shared->over || !shared->waiting.empty(); });
      if (shared->over) return;
      const auto question = std::move(shared->waiting.front());
      shared->waiting.pop_front();
      ++shared->busy;
      lock.unlock();
      const int code =
          read_into(question->file.get(), question->text.get(), question->most, question->size);
      question->file = Fd();
      lock.lock();
      question->code = code;
      question->answered = true;
      --shared->busy;
      lock.unlock();  // or who is woken waits for it
      shared->answered.notify_all();
      lock.lock();
    }
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error& error) {
    return fail(EBUSY, "no thread to read it: {}", error.what());
  }
  ++shared_->threads;
  return {};
}

Result<std::string> PatientReader::read(const TaskKey& task,
                                        const std::function<Result<Fd>()>& open) {
  std::unique_lock lock(shared_->mutex);
  auto known = asked_.find(task);
  if (known == asked_.end()) {
    if (shared_->busy + shared_->waiting.size() >= shared_->threads) {
      if (shared_->threads >= limits_.threads)
        return fail(EBUSY, "{} others hang already", shared_->threads);
      if (auto added = add_thread(); !added) return forward(added.error());
    }
    auto file = open();
    if (!file) return forward(file.error());
    auto question = std::make_shared<Question>();
    question->file = std::move(*file);
    question->text = std::make_unique_for_overwrite<char[]>(limits_.bytes);
    question->most = limits_.bytes;
    shared_->waiting.push_back(question);
    known = asked_.emplace(task, std::move(question)).first;
    lock.unlock();
    shared_->asked.notify_one();
    lock.lock();
    (void)shared_->answered.wait_for(  // ignored: looked at below
        lock, limits_.patience, [&] { return known->second->answered; });
  }
  if (!known->second->answered) return fail(EAGAIN, "it hangs");
  const auto question = std::move(known->second);
  asked_.erase(known);
  if (question->code != 0) return fail(question->code, "read: {}", errno_text(question->code));
  return std::string(question->text.get(), question->size);
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
  return shared_->busy + shared_->waiting.size();
}

}  // namespace kcg
