// SPDX-License-Identifier: Apache-2.0
//
// A made-up /proc and KVM debugfs in a temporary directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "model/ids.hpp"

namespace kcg::test {

/// Value: what stat says of a task.
struct FakeStat {
  std::string comm = "qemu-system-x86";
  Pid ppid = 1;
  std::uint64_t start = 500;
  char state = 'S';
  std::uint64_t flags = 0;
  std::uint64_t utime = 0;
  std::uint64_t stime = 0;
  std::uint64_t guest = 0;
};

/// Resource: see the head of the file; removed with the object. "self" is process 1.
class ProcFixture {
 public:
  ProcFixture();
  ~ProcFixture();
  ProcFixture(const ProcFixture&) = delete;
  ProcFixture& operator=(const ProcFixture&) = delete;

  [[nodiscard]] std::string proc() const { return (top_ / "proc").string(); }
  [[nodiscard]] std::string kvm() const { return (top_ / "kvm").string(); }
  /// Creates or replaces "<pid>/<name>" below /proc.
  void file(Pid pid, const std::string& name, const std::string& text) const;
  void link(Pid pid, const std::string& name, const std::string& target) const;
  void remove(Pid pid, const std::string& name = "") const;
  /// A process with everything that facts are read from, in our namespaces and root.
  void process(Pid pid, const FakeStat& stat = {}, const std::string& cmdline = {}) const;
  void stat(Pid pid, const FakeStat& stat) const;
  /// task/<tid>/{stat,cgroup}.
  void thread(Pid pid, Pid tid, const FakeStat& stat, const std::string& cgroup) const;
  /// kvm/<vm>/vcpu<n>/pid.
  void vcpu(const std::string& vm, unsigned n, const std::string& text) const;
  [[nodiscard]] std::filesystem::path top() const { return top_; }

 private:
  std::filesystem::path top_;
};

}  // namespace kcg::test
