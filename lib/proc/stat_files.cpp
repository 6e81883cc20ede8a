// SPDX-License-Identifier: Apache-2.0
#include "proc/stat_files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proc/task_files.hpp"

namespace kcg {

Result<ProcStat> StatFiles::read(Pid process, Pid tid, const Dir& dir, const std::string& path) {
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const One& one) {
    return one.file && one.process == process && one.tid == tid;
  });
  if (known != kept_.end()) {
    if (const auto text = read_kernel_again(known->file.get())) {
      known->used = ++uses_;
      return parse_proc_stat(*text);
    }
    *known = One();
  }
  auto file = dir.file(path, O_RDONLY);
  // Nobody shall lack the descriptors that are kept here.
  if (!file && (file.error().code == EMFILE || file.error().code == ENFILE)) {
    close_all();
    file = dir.file(path, O_RDONLY);
  }
  if (!file) return forward(gone(file.error(), tid));
  const auto text = read_kernel_again(file->get());
  if (!text) return forward(gone(text.error(), tid));
  place() = {process, tid, std::move(*file), ++uses_};
  return parse_proc_stat(*text);
}

/// That of whom nobody has asked for longest.
StatFiles::One& StatFiles::place() {
  return *std::min_element(kept_.begin(), kept_.end(),
                           [](const One& a, const One& b) { return a.used < b.used; });
}

void StatFiles::close_all() {
  for (auto& one : kept_) one = One();
}

std::size_t StatFiles::size() const {
  return static_cast<std::size_t>(
      std::count_if(kept_.begin(), kept_.end(), [](const One& one) { return bool(one.file); }));
}

}  // namespace kcg
