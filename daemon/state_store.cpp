// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "daemon/registration_json.hpp"

namespace kcg {

namespace {

constexpr int kVersion = 1;
constexpr const char* kFirstStart = "first-start.json";
constexpr const char* kRegistrations = "registrations.json";
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

nlohmann::json document(const std::string& boot_id) {
  return {{"version", kVersion}, {"boot_id", boot_id}};
}

}  // namespace

Result<StateStore> StateStore::open(const std::string& run_directory) {
  if (auto made = make_directories(run_directory); !made) return forward(made.error());
  auto dir = Dir::open(run_directory);
  if (!dir) return forward(dir.error());
  Fd lock(::openat(dir->fd(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) {
    const int code = errno;
    return fail(code, "{}/lock: {}", run_directory, errno_text(code));
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    if (code == EWOULDBLOCK)
      return fail(EBUSY, "another kata-cgroupd is running: it holds {}/lock; stop it first",
                  run_directory);
    return fail(code, "{}/lock: {}", run_directory, errno_text(code));
  }
  auto boot_id = read_boot_id();
  if (!boot_id) return forward(boot_id.error());
  StateStore store(std::move(*dir), std::move(lock), std::move(*boot_id));
  store.load_creations();
  return store;
}

std::optional<std::string> StateStore::read_checked(const std::string& file) const {
  auto text = dir_.read(file);
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const bool good = json.is_object() && json.contains("version") && json["version"].is_number() &&
                    json["version"] == kVersion && json.contains("boot_id") &&
                    json["boot_id"].is_string();
  if (!good) {
    notes_.push_back(
        fmt::format("{} is not of version {}: set aside as {}.unknown", file, kVersion, file));
    const auto aside = file + ".unknown";
    (void)::renameat(dir_.fd(), file.c_str(), dir_.fd(),
                     aside.c_str());  // ignored: only a courtesy
    return std::nullopt;
  }
  if (json["boot_id"].get<std::string>() != boot_id_) return std::nullopt;
  return *text;
}

Result<std::uint64_t> StateStore::first_start(std::uint64_t now_ticks) {
  if (const auto text = read_checked(kFirstStart)) {
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    const auto ticks = json.find("ticks");
    if (ticks != json.end() && ticks->is_number_unsigned()) return ticks->get<std::uint64_t>();
  }
  auto json = document(boot_id_);
  json["ticks"] = now_ticks;
  if (auto done = dir_.replace(kFirstStart, json.dump()); !done) return forward(done.error());
  return now_ticks;
}

Result<std::map<SandboxId, Registration>> StateStore::registrations() const {
  std::map<SandboxId, Registration> found;
  const auto text = read_checked(kRegistrations);
  if (!text) return found;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto all = json.find("registrations");
  if (all == json.end() || !all->is_object()) return found;
  for (const auto& [key, value] : all->items()) {
    const auto id = SandboxId::parse(key);
    auto registration = registration_from_json(value);
    if (id && registration)
      found.emplace(*id, std::move(*registration));
    else
      notes_.push_back(
          fmt::format("registration of '{}' is not readable and was left out", escaped(key)));
  }
  return found;
}

Status StateStore::save(const std::map<SandboxId, Registration>& registrations) {
  auto json = document(boot_id_);
  json["registrations"] = nlohmann::json::object();
  for (const auto& [id, registration] : registrations)
    json["registrations"][id.str()] = registration_to_json(registration);
  return dir_.replace(kRegistrations,
                      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
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

}  // namespace kcg
