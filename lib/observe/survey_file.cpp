// SPDX-License-Identifier: Apache-2.0
#include "observe/survey_file.hpp"

#include <cerrno>
#include <cstddef>

#include "show/survey_documents.hpp"

namespace kcg {

namespace {

/// Of so many handlers and sizes of guests as are counted at most, and all steps of each.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;

}  // namespace

Result<Survey> read_survey(const Dir& state) {
  const auto text = state.read(kSurveyFile, kMostBytes);
  if (!text && text.error().code == ENOENT) return Survey();
  if (!text) return forward(text.error());
  return parse_survey_document(*text);
}

}  // namespace kcg
