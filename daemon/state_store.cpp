// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/run_lock.hpp"
#include "base/text.hpp"
#include "observe/history_files.hpp"
#include "observe/survey_file.hpp"
#include "show/history_documents.hpp"
#include "show/survey_documents.hpp"

namespace kcg {

namespace {

constexpr int kVersion = 1;
constexpr const char* kFirstStart = "first-start.json";
constexpr const char* kCreating = "creating-";

/// mkdir -p; every part below an existing one is made 0755.
Status make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const auto part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
      const int code = errno;
      return fail(code, "{}: {}", part, errno_text(code));
    }
    if (at == std::string::npos) return {};
  }
}

Result<std::string> read_boot_id() {
  const auto dir = Dir::open("/proc/sys/kernel/random");
  if (!dir) return forward(dir.error());
  const auto text = dir->read("boot_id");
  if (!text) return forward(text.error());
  return std::string(trim(*text));
}

}  // namespace

Result<StateStore> StateStore::open(const std::string& run_directory,
                                    const std::string& state_directory) {
  if (auto made = make_directories(run_directory); !made) return forward(made.error());
  auto dir = Dir::open(run_directory);
  if (!dir) return forward(dir.error());
  auto lock = take_run_lock(*dir, run_directory);
  if (!lock) return forward(lock.error());
  auto boot_id = read_boot_id();
  if (!boot_id) return forward(boot_id.error());
  StateStore store(std::move(*dir), std::move(*lock), std::move(*boot_id));
  store.load_creations();
  if (!state_directory.empty()) store.open_state(state_directory);
  return store;
}

void StateStore::open_state(const std::string& directory) {
  const auto made = make_directories(directory);
  auto dir = made ? Dir::open(directory) : forward(made.error());
  if (dir)
    state_ = std::move(*dir);
  else
    notes_.push_back(fmt::format("what sandboxes have used is not kept: {}", dir.error().text));
}

/// nullopt: there is none of this boot.
std::optional<std::uint64_t> StateStore::read_first_start() {
  const auto text = dir_.read(kFirstStart);
  if (!text && text.error().code == ENOENT) return std::nullopt;
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  const bool good = json.is_object() && json.contains("version") &&
                    json["version"].is_number_integer() && json["version"] == kVersion &&
                    json.contains("boot_id") && json["boot_id"].is_string() &&
                    json.contains("ticks") && json["ticks"].is_number_unsigned();
  if (!good) {
    set_aside(dir_, kFirstStart,
              text ? fmt::format("not of version {}", kVersion) : text.error().text, notes_);
    return std::nullopt;
  }
  if (json["boot_id"] != boot_id_) return std::nullopt;
  return json["ticks"].get<std::uint64_t>();
}

std::uint64_t StateStore::first_start(std::uint64_t now_ticks) {
  if (const auto ticks = read_first_start()) return *ticks;
  const nlohmann::json json = {{"version", kVersion}, {"boot_id", boot_id_}, {"ticks", now_ticks}};
  if (const auto done = dir_.replace(kFirstStart, json.dump()); !done)
    notes_.push_back(fmt::format("the time of our first start is not kept: {}", done.error().text));
  return now_ticks;
}

void StateStore::load_creations() {
  const auto entries = dir_.list();
  if (!entries) return;
  for (const auto& entry : *entries) {
    if (!entry.name.starts_with(kCreating)) continue;
    const auto id = SandboxId::parse(std::string_view(entry.name).substr(9));
    const auto text = dir_.read(entry.name);
    if (id && text && *text == boot_id_)
      creating_.insert(*id);
    else
      (void)dir_.remove_file(entry.name);  // ignored: of an earlier boot, it says nothing
  }
}

Status StateStore::note_creation(const SandboxId& id) {
  if (creating_.contains(id)) return {};
  if (auto done = dir_.replace(kCreating + id.str(), boot_id_); !done) return done;
  creating_.insert(id);
  return {};
}

void StateStore::forget_creation(const SandboxId& id) {
  if (creating_.erase(id) == 0) return;
  (void)dir_.remove_file(kCreating + id.str());  // ignored: it is read again at the next start
}

std::vector<SandboxHistory> StateStore::histories() {
  auto found = read_histories(dir_);
  if (!found) {
    notes_.push_back(fmt::format("what happened before is not known: {}", found.error().text));
    return {};
  }
  for (const auto& [file, why] : found->wrong) set_aside(dir_, file, why, notes_);
  return std::move(found->histories);
}

Status StateStore::keep(const SandboxHistory& history) const {
  return dir_.replace(history_file(history.id), history_document({history}, true));
}

Status StateStore::drop_history(const std::string& id) const {
  auto removed = dir_.remove_file(history_file(id));
  if (!removed && removed.error().code == ENOENT) return {};
  return removed;
}

Survey StateStore::survey() {
  auto kept = state_ ? read_survey(*state_) : Survey();
  if (kept) return *std::move(kept);
  set_aside(*state_, kSurveyFile, kept.error().text, notes_);
  return {};
}

Status StateStore::keep(const Survey& survey) const {
  if (!state_) return {};
  return state_->replace(kSurveyFile, survey_document(survey));
}

}  // namespace kcg
