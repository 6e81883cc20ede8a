// SPDX-License-Identifier: Apache-2.0
//
// `doctor`: facts -> findings -> text. Pure: one check is one function.
#pragma once

#include <string>
#include <vector>

#include "tools/cgctl/doctor/facts.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl::doctor {

enum class Verdict : unsigned char { ok, warning, failed, unchecked };
[[nodiscard]] const char* verdict_name(Verdict verdict);

/// Value: what one check found.
struct Finding {
  std::string check;
  Verdict verdict = Verdict::ok;
  std::string text;
  std::string remedy;  ///< "" where there is nothing to do
  bool operator==(const Finding&) const = default;
};

[[nodiscard]] Finding good(const char* check, std::string text);
[[nodiscard]] Finding warning(const char* check, std::string text, std::string remedy);
[[nodiscard]] Finding failed(const char* check, std::string text, std::string remedy);
/// What could not be looked at: without permission it says nothing about the node, all else is a
/// failure.
[[nodiscard]] Finding unseen(const char* check, const Error& error, std::string remedy);
[[nodiscard]] Finding unchecked(const char* check, std::string why);

[[nodiscard]] Finding check_kernel(const Facts& facts);
[[nodiscard]] Finding check_namespaces(const Facts& facts);
[[nodiscard]] Finding check_hierarchy(const Facts& facts);
[[nodiscard]] Finding check_controllers(const Facts& facts);
[[nodiscard]] Finding check_libcgroup(const Facts& facts);
[[nodiscard]] Finding check_pressure(const Facts& facts);
[[nodiscard]] Finding check_process_events(const Facts& facts);
[[nodiscard]] Finding check_debugfs(const Facts& facts);
[[nodiscard]] Finding check_inotify(const Facts& facts);
[[nodiscard]] Finding check_run_space(const Facts& facts);

[[nodiscard]] Finding check_config(const Facts& facts);
[[nodiscard]] Finding check_bus(const Facts& facts);
[[nodiscard]] Finding check_daemon(const Facts& facts);
/// One for each part of the daemon that does not work as it should.
[[nodiscard]] std::vector<Finding> check_parts(const Facts& facts);
[[nodiscard]] Finding check_systemd(const Facts& facts);
[[nodiscard]] Finding check_nri(const Facts& facts);
[[nodiscard]] Finding check_sandboxes(const Facts& facts);

[[nodiscard]] Finding check_driver(const Facts& facts);
[[nodiscard]] Finding check_layout(const Facts& facts);
[[nodiscard]] Finding check_annotation(const Facts& facts);

/// All of them, in the order in which one builds on the other.
[[nodiscard]] std::vector<Finding> diagnose(const Facts& facts);
/// Whether nothing is wrong; what could not be looked at is not.
[[nodiscard]] bool healthy(const std::vector<Finding>& findings);

/// One line each, the remedy below it, and a last line that answers; in a pipe a table.
[[nodiscard]] std::string render(const Style& style, const std::vector<Finding>& findings);
/// The JSON document.
[[nodiscard]] std::string document(const std::vector<Finding>& findings);

}  // namespace kcg::cgctl::doctor
