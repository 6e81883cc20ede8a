// SPDX-License-Identifier: Apache-2.0
//
// What the node's stand-in keeps for itself below /run/kata-standin: a log, and for each sandbox
// and container a directory with its pid and what the next call must know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::standin {

inline constexpr const char* kSettingsFile = "/etc/kata-standin.conf";

/// Value: runc's command line, as far as it matters here.
struct Call {
  std::vector<std::string> words;  ///< the command, the id, for kill the signal
  std::string bundle;
  std::string pid_file;

  [[nodiscard]] std::string word(std::size_t index) const {
    return index < words.size() ? words[index] : "";
  }
};

/// To the log, with the time since boot and the id.
void log_line(const Call& call, const std::string& text);

/// Value: a sandbox or a container.
struct Record {
  std::string bundle;
  std::string sandbox;       ///< its own id, or that of the sandbox that a container is in
  std::string cgroups_path;  ///< linux.cgroupsPath
};

[[nodiscard]] std::string home_of(const std::string& id);
/// From `bundle`/config.json.
[[nodiscard]] Result<Record> record_of_bundle(const std::string& id, const std::string& bundle);
[[nodiscard]] Status write_record(const std::string& id, const Record& record);
/// "container does not exist", which is what the engine looks for.
[[nodiscard]] Result<Record> read_record(const std::string& id);
[[nodiscard]] Result<Pid> read_pid(const std::string& id);
void forget(const std::string& id);

}  // namespace kcg::standin
