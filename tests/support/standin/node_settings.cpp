// SPDX-License-Identifier: Apache-2.0
#include "node_settings.hpp"

#include <cerrno>
#include <fstream>

#include "base/text.hpp"

namespace kcg::standin {

namespace {

const SettingTexts& defaults() {
  static const SettingTexts all = {
      {"SANDBOX_CGROUP_ONLY", "true"},
      {"OWN_GROUP", "true"},      // false: makes no group or scope, and stays where the engine is
      {"DEVICE_RULES", "false"},  // true: a device program on the group it makes (cgroupfs driver)
      {"VCPUS", "2"},
      {"MAX_VCPUS", "4"},
      {"MEMORY_MIB", "128"},
      {"VIRTIOFSD", "true"},        // false: shares no files with the guest
      {"LATE_VIRTIOFSD", "false"},  // true: one without a guest begins when there is a file
                                    // virtiofsd-begins beside its log, and outlives its sandbox
      {"HUGEPAGES", "false"},       // true: enable_hugepages; needs VIRTIOFSD
      {"GUEST", "halt"},           // what the vCPUs do: halt, spin, touch (each page of the guest's
                                   // memory, then halt), or eat (all of it, for ever)
      {"PINNING", "false"},        // true: enable_vcpus_pinning
      {"DELETE_SECONDS", "0"},     // how long a container that has ended stays in Kata's files, and
                                   // then its bundle
      {"CONTAINER", "idle"},       // what a container's process does: idle, or spin
      {"PAUSED", "false"},         // true: the VM waits for QMP's "cont"
      {"THREAD_NAMES", "false"}};  // Kata names the threads of QEMU only when it is debugged
  return all;
}

/// Takes the texts one by one, and keeps the first complaint.
class Reader final {
 public:
  explicit Reader(const SettingTexts& texts) : texts_(texts) {}

  bool flag(const char* key) { return one_of(key, "false", "true"); }

  /// Whether it is the second of two words.
  bool one_of(const char* key, const char* first, const char* second) {
    const auto& text = texts_.at(key);
    if (text != first && text != second)
      complain(key, fmt::format("must be {} or {}", first, second));
    return text == second;
  }

  std::uint32_t number(const char* key) {
    const auto value = parse_u64(texts_.at(key));
    if (!value || *value > 65536) complain(key, "must be a small number");
    return static_cast<std::uint32_t>(value.value_or(0) & 0x1ffff);
  }

  Guest guest(const char* key) {
    const auto value = guest_named(texts_.at(key));
    if (!value) complain(key, "must be halt, spin, touch, eat or bios");
    return value.value_or(Guest::halt);
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void complain(const char* key, const std::string& what) {
    if (status_) status_ = fail(EINVAL, "Kata's settings: {}={}: {}", key, texts_.at(key), what);
  }

  const SettingTexts& texts_;
  Status status_;
};

}  // namespace

Result<SettingTexts> read_settings(const std::string& path) {
  auto texts = defaults();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    const auto equals = line.find('=');
    const auto known = texts.find(line.substr(0, equals));
    if (equals == std::string::npos || known == texts.end())
      return fail(EINVAL, "{}: {}: no KEY=VALUE with a known key", path, line);
    known->second = line.substr(equals + 1);
  }
  return texts;
}

Status write_settings(const std::string& path, const SettingTexts& texts) {
  std::ofstream file(path);
  for (const auto& [key, text] : texts) file << key << '=' << text << '\n';
  if (!file.flush()) return fail(EIO, "{}: cannot write", path);
  return {};
}

Result<NodeSettings> parse_settings(const SettingTexts& texts) {
  Reader read(texts);
  NodeSettings settings;
  auto& kata = settings.kata;
  kata.accel = "kvm";
  kata.hierarchy = "v2";
  kata.helper_program = "/usr/libexec/virtiofsd";
  kata.sandbox_cgroup_only = read.flag("SANDBOX_CGROUP_ONLY");
  kata.vcpus = read.number("VCPUS");
  kata.max_vcpus = read.number("MAX_VCPUS");
  kata.memory_mib = read.number("MEMORY_MIB");
  kata.helper = read.flag("VIRTIOFSD");
  kata.guest = read.guest("GUEST");
  kata.pinning = read.flag("PINNING");
  kata.thread_names = read.flag("THREAD_NAMES");
  settings.own_group = read.flag("OWN_GROUP");
  settings.device_rules = read.flag("DEVICE_RULES");
  settings.hugepages = read.flag("HUGEPAGES");
  settings.late_virtiofsd = read.flag("LATE_VIRTIOFSD");
  settings.paused = read.flag("PAUSED");
  settings.spinning_container = read.one_of("CONTAINER", "idle", "spin");
  settings.delete_time = std::chrono::seconds(read.number("DELETE_SECONDS"));
  if (!read.status()) return forward(read.status().error());
  return settings;
}

}  // namespace kcg::standin
