// SPDX-License-Identifier: Apache-2.0
//
// `doctor --report`: what a maintainer needs, in one JSON document.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/options.hpp"

namespace kcg::cgctl::doctor {

/// Value: one thing that was asked, and what was said.
struct Part {
  enum class Form : unsigned char { text, lines, json };
  std::string name;
  Form form = Form::text;
  Result<std::string> content;
};

/// Pure. `now`: seconds since 1970.
[[nodiscard]] std::string report_document(std::int64_t now, const std::vector<Finding>& findings,
                                          const std::vector<Part>& parts);

/// All but the findings.
[[nodiscard]] std::vector<Part> gather_parts(const Options& options, const Facts& facts);
/// The daemon's last lines in the journal, the oldest first.
[[nodiscard]] Result<std::string> journal_lines();

/// Resource: a new file for its owner alone; without keep() nothing of it stays.
class ReportFile final {
 public:
  /// EEXIST: nothing is overwritten.
  [[nodiscard]] static Result<ReportFile> create(const std::string& path);
  ~ReportFile();
  ReportFile(ReportFile&& other) noexcept;
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  [[nodiscard]] Status write(const std::string& text);

 private:
  ReportFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  Fd fd_;
  bool kept_ = false;
};

}  // namespace kcg::cgctl::doctor
