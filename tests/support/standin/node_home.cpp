// SPDX-License-Identifier: Apache-2.0
#include "node_home.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace kcg::standin {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHome = "/run/kata-standin";

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file, nullptr, false);
}

}  // namespace

void log_line(const Call& call, const std::string& text) {
  std::ifstream uptime("/proc/uptime");
  std::string now;
  uptime >> now;
  std::error_code ignored;  // as a log that cannot be written
  std::filesystem::create_directories(kHome, ignored);
  std::ofstream(fmt::format("{}/log", kHome), std::ios::app)
      << fmt::format("{} {} {}\n", now, call.word(1).substr(0, 8), text);
}

std::string home_of(const std::string& id) { return fmt::format("{}/{}", kHome, id); }

Result<Record> record_of_bundle(const std::string& id, const std::string& bundle) {
  const auto config = read_json(bundle + "/config.json");
  if (!config.is_object()) return fail(EINVAL, "{}/config.json: no JSON object", bundle);
  const Json annotations = config.value("annotations", Json::object());
  return Record{bundle, annotations.value("io.kubernetes.cri.sandbox-id", id),
                config.value("/linux/cgroupsPath"_json_pointer, "")};
}

Status write_record(const std::string& id, const Record& record) {
  std::error_code failed;
  std::filesystem::create_directories(home_of(id), failed);
  const auto path = home_of(id) + "/record";
  std::ofstream file(path);
  file << Json{
      {"bundle", record.bundle}, {"sandbox", record.sandbox}, {"cgroupsPath", record.cgroups_path}};
  if (failed || !file.flush()) return fail(EIO, "{}: cannot write", path);
  return {};
}

Result<Record> read_record(const std::string& id) {
  const auto json = read_json(home_of(id) + "/record");
  if (id.empty() || !json.is_object()) return fail(ENOENT, "container does not exist");
  return Record{json.value("bundle", ""), json.value("sandbox", ""), json.value("cgroupsPath", "")};
}

Result<Pid> read_pid(const std::string& id) {
  std::ifstream file(home_of(id) + "/pid");
  std::string text;
  file >> text;
  const auto pid = parse_pid(text);
  if (!pid) return fail(ENOENT, "container does not exist");
  return *pid;
}

void forget(const std::string& id) {
  std::error_code ignored;  // as everybody's clean-up
  std::filesystem::remove_all(home_of(id), ignored);
}

}  // namespace kcg::standin
