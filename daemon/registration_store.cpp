// SPDX-License-Identifier: Apache-2.0
#include "daemon/registration_store.hpp"

#include <fmt/format.h>
#include <stdio.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"
#include "daemon/manager.hpp"
#include "daemon/registration_json.hpp"

namespace kcg {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr const char* kDirectory = "registrations";
constexpr std::string_view kSuffix = ".json";
/// Earlier versions kept all of them in this one file, of any size.
constexpr const char* kFormerFile = "registrations.json";
constexpr std::size_t kLargestFormer = std::size_t{256} << 20;
constexpr unsigned kAsideNames = 100;

std::string file_of(const SandboxId& id) { return id.str() + std::string(kSuffix); }

bool of_our_version(const json& document) {
  const auto version = document.is_object() ? document.find("version") : document.end();
  const auto boot = document.is_object() ? document.find("boot_id") : document.end();
  return version != document.end() && version->is_number_integer() && *version == kVersion &&
         boot != document.end() && boot->is_string();
}

/// Text that is not UTF-8 has been refused before; here it must not stop a start.
std::string dumped(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

void set_aside(const Dir& dir, const std::string& file, const std::string& why,
               std::vector<std::string>& notes) {
  for (unsigned n = 0; n < kAsideNames; ++n) {
    const auto aside = fmt::format("{}.unknown{}", file, n == 0 ? "" : std::to_string(n));
    if (::renameat2(dir.fd(), file.c_str(), dir.fd(), aside.c_str(), RENAME_NOREPLACE) == 0)
      return notes.push_back(fmt::format("{}: {}: set aside as {}", file, why, aside));
    const int code = errno;
    if (code == EEXIST) continue;
    return notes.push_back(
        fmt::format("{}: {}, and it cannot be set aside: {}", file, why, errno_text(code)));
  }
  notes.push_back(fmt::format("{}: {}: left there, since {} of its kind were set aside already",
                              file, why, kAsideNames));
}

Status RegistrationStore::open(const Dir& run, std::vector<std::string>& notes) {
  if (const auto made = run.make(kDirectory); !made && made.error().code != EEXIST)
    return forward(made.error());
  auto dir = run.dir(kDirectory);
  if (!dir && (dir.error().code == ENOTDIR || dir.error().code == ELOOP)) {
    set_aside(run, kDirectory, "not a directory", notes);
    if (auto made = run.make(kDirectory); !made) return made;
    dir = run.dir(kDirectory);
  }
  if (!dir) return forward(dir.error());
  dir_ = std::move(*dir);
  return {};
}

std::map<SandboxId, Registration> RegistrationStore::load(const Dir& run,
                                                          std::vector<std::string>& notes) {
  std::map<SandboxId, Registration> found;
  if (const auto opened = open(run, notes); !opened) {
    notes.push_back(fmt::format("registrations cannot be kept: {}", opened.error().text));
    return found;
  }
  take_over(run, found, notes);
  const auto entries = dir_->list();
  if (!entries)
    notes.push_back(fmt::format("registrations cannot be read: {}", entries.error().text));
  if (!entries) return found;
  for (const auto& entry : *entries) {
    if (!entry.name.ends_with(kSuffix)) continue;
    const auto stem = std::string_view(entry.name).substr(0, entry.name.size() - kSuffix.size());
    const auto id = SandboxId::parse(stem);
    if (!id) {
      set_aside(*dir_, entry.name, "not the name of a sandbox", notes);
      continue;
    }
    if (auto registration = read(entry.name, notes)) found.insert_or_assign(*id, *registration);
  }
  return found;
}

std::optional<Registration> RegistrationStore::read(const std::string& file,
                                                    std::vector<std::string>& notes) const {
  const auto text = dir_->read(file, kLargest);
  if (!text) {
    set_aside(*dir_, file, text.error().text, notes);
    return std::nullopt;
  }
  const auto document = json::parse(*text, nullptr, false);
  if (!of_our_version(document)) {
    set_aside(*dir_, file, fmt::format("not of version {}", kVersion), notes);
    return std::nullopt;
  }
  if (document["boot_id"] != boot_id_) {
    (void)dir_->remove_file(file);  // ignored: its processes are of an earlier boot
    return std::nullopt;
  }
  auto registration = registration_from_json(document.value("registration", json()));
  if (registration) return *std::move(registration);
  set_aside(*dir_, file, "not a registration: " + registration.error().text, notes);
  return std::nullopt;
}

/// Once: what an earlier version left is saved in our form, and its file goes.
void RegistrationStore::take_over(const Dir& run, std::map<SandboxId, Registration>& found,
                                  std::vector<std::string>& notes) const {
  const auto text = run.read(kFormerFile, kLargestFormer);
  if (!text && text.error().code == ENOENT) return;
  const auto document = text ? json::parse(*text, nullptr, false) : json();
  const bool good = of_our_version(document) && document.contains("registrations") &&
                    document["registrations"].is_object();
  if (!good)
    return set_aside(run, kFormerFile,
                     text ? fmt::format("not of version {}", kVersion) : text.error().text, notes);
  if (document["boot_id"] == boot_id_) {
    for (const auto& [key, value] : document["registrations"].items()) {
      const auto id = SandboxId::parse(key);
      auto registration = registration_from_json(value);
      if (!id || !registration) {
        notes.push_back(fmt::format("registration of '{}' was left out: {}", escaped(key),
                                    id ? registration.error().text : "not the name of a sandbox"));
        continue;
      }
      if (const auto saved = save(*id, *registration); !saved)
        notes.push_back(fmt::format("registration of '{}' will not survive the next start: {}",
                                    id->str(), saved.error().text));
      found.insert_or_assign(*id, *std::move(registration));
    }
  }
  (void)run.remove_file(kFormerFile);  // ignored: then it is taken over again
}

Status RegistrationStore::save(const SandboxId& id, const Registration& registration) const {
  if (!dir_) return fail(ENOENT, "there is no directory for registrations");
  const json document = {{"version", kVersion},
                         {"boot_id", boot_id_},
                         {"registration", registration_to_json(registration)}};
  const auto text = dumped(document);
  if (text.size() > kLargest)
    return fail(
        static_cast<int>(ManagerError::limit_reached),
        "registration of '{}': {} bytes as it is saved, and at most {} are kept: give fewer "
        "annotations or containers",
        id.str(), text.size(), kLargest);
  return dir_->replace(file_of(id), text);
}

Status RegistrationStore::remove(const SandboxId& id) const {
  if (!dir_) return {};
  auto removed = dir_->remove_file(file_of(id));
  if (!removed && removed.error().code == ENOENT) return {};
  return removed;
}

}  // namespace kcg
