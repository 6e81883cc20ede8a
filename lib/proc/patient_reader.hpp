// SPDX-License-Identifier: Apache-2.0
//
// Reads files that may hang for ever (L5, internal to proc/): /proc/<pid>/cmdline waits for the
// memory of its process, and that may be somebody's who never answers (FUSE, a stuck VMM). Each is
// read by a thread that nobody waits for longer than a moment. Where CPUs are busy it runs on that
// of who asks, who sleeps meanwhile, and has not to wait for its turn on another. See
// docs/decisions/reader-threads.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Resource: the threads and what they were asked. A thread that hangs is left behind at the end.
class PatientReader final {
 public:
  struct Limits {
    std::size_t threads = 32;                ///< that may hang at once
    std::chrono::milliseconds patience{20};  ///< that the caller waits for an answer
    std::size_t bytes = std::size_t{64} << 10;
    std::chrono::milliseconds crowded{1000};  ///< how long CPUs count as busy after a late answer
  };
  explicit PatientReader(Limits limits);
  ~PatientReader();
  PatientReader(const PatientReader&) = delete;
  PatientReader& operator=(const PatientReader&) = delete;

  /// The first bytes of the file that `open` opens. EAGAIN: not yet. The file is then not opened
  /// again: asking again for the same task takes the answer once there is one. EBUSY: it was not
  /// opened, because as many as may hang do so already.
  [[nodiscard]] Result<std::string> read(const TaskKey& task,
                                         const std::function<Result<Fd>()>& open);
  /// The task executed another program: what is being read is of no use. Its thread stays busy.
  void forget(Pid pid);
  /// Drops what is ready and was never asked for again, of tasks that `ended`.
  void forget_if(const std::function<bool(const TaskKey&)>& ended);
  /// Files that are being read.
  [[nodiscard]] std::size_t hanging() const;

 private:
  struct Question;
  struct Thread;
  struct Shared;
  [[nodiscard]] Status add_thread();

  Limits limits_;
  std::chrono::steady_clock::time_point crowded_until_{};
  std::shared_ptr<Shared> shared_;  ///< outlives this object where a thread hangs
  std::map<TaskKey, std::shared_ptr<Question>> asked_;
  std::unique_ptr<char[]> spare_;  ///< of an answer that was taken; nullptr: there is none
};

}  // namespace kcg
