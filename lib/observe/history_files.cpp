// SPDX-License-Identifier: Apache-2.0
#include "observe/history_files.hpp"

#include <fmt/format.h>

#include "show/history_documents.hpp"

namespace kcg {

namespace {

constexpr std::string_view kPrefix = "history-";
constexpr std::string_view kSuffix = ".json";

Result<SandboxHistory> read_one(const Dir& run, const std::string& file) {
  const auto text = run.read(file);
  if (!text) return forward(text.error());
  auto histories = parse_history_document(*text);
  if (!histories) return forward(histories.error());
  if (histories->size() != 1 || history_file(histories->front().id) != file)
    return fail(0, "not of the sandbox in its name");
  return std::move(histories->front());
}

}  // namespace

std::string history_file(const std::string& id) {
  return fmt::format("{}{}{}", kPrefix, id, kSuffix);
}

Result<HistoryFiles> read_histories(const Dir& run) {
  const auto entries = run.list();
  if (!entries) return forward(entries.error());
  HistoryFiles found;
  for (const auto& entry : *entries) {
    if (!entry.name.starts_with(kPrefix) || !entry.name.ends_with(kSuffix)) continue;
    auto history = read_one(run, entry.name);
    if (history)
      found.histories.push_back(*std::move(history));
    else
      found.wrong.emplace_back(entry.name, history.error().text);
  }
  return found;
}

}  // namespace kcg
