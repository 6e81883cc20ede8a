// SPDX-License-Identifier: Apache-2.0
#include "containers.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"

namespace kcg::standin {

namespace {

using Json = nlohmann::ordered_json;

/// "0-2,5"; what is no list counts for nothing.
void add_cpus(const std::string& list, std::set<int>& cpus) {
  for (const auto part : split(list, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_u64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(part.substr(dash + 1));
    if (!first || !last || *last > 4096) continue;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
  }
}

}  // namespace

Result<Container> read_container(const std::string& id, const std::string& bundle) {
  std::ifstream file(bundle + "/config.json");
  const auto config = Json::parse(file, nullptr, false);
  if (!config.is_object()) return fail(EINVAL, "{}/config.json: no JSON object", bundle);
  return Container{id, bundle, config.value("annotations", Json::object()).dump(),
                   config.value("/linux/resources"_json_pointer, Json::object()).dump()};
}

Status merge_resources(Container& container, const std::string& change) {
  const auto wanted = Json::parse(change, nullptr, false);
  if (!wanted.is_object()) return fail(EINVAL, "{}: no JSON object", change);
  auto resources = Json::parse(container.resources);
  for (const auto& [part, values] : wanted.items()) {
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items())
      if (!value.is_null() && value != 0 && value != "") resources[part][key] = value;
  }
  container.resources = resources.dump();
  return {};
}

Status update_resources(Container& container, const std::string& change) {
  Json wanted;
  const auto equals = change.find('=');
  const auto key = change.substr(0, equals);
  const auto value = equals == std::string::npos ? std::string() : change.substr(equals + 1);
  const auto number = parse_u64(value);
  if (key == "cpus") {
    wanted["cpu"]["cpus"] = value;
  } else if (key == "quota" && number) {
    wanted["cpu"]["quota"] = *number;
    wanted["cpu"]["period"] = 100000;
  } else if (key == "memory" && number) {
    wanted["memory"]["limit"] = *number;
  } else {
    return fail(0, "{}: not cpus=LIST, quota=US or memory=BYTES", change);
  }
  return merge_resources(container, wanted.dump());
}

Result<std::vector<Container>::iterator> find_container(std::vector<Container>& containers,
                                                        const std::string& id) {
  const auto found = std::find_if(containers.begin(), containers.end(),
                                  [&](const Container& one) { return one.id == id; });
  if (found == containers.end()) return fail(0, "container {} does not exist", id);
  return found;
}

std::vector<int> cpus_of(const std::vector<Container>& containers) {
  std::set<int> cpus;
  for (const auto& container : containers) {
    const auto resources = Json::parse(container.resources);
    add_cpus(resources.value("/cpu/cpus"_json_pointer, ""), cpus);
  }
  return {cpus.begin(), cpus.end()};
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::string list;
  for (const int cpu : cpus) list.append(list.empty() ? "" : ",").append(std::to_string(cpu));
  return list;
}

}  // namespace kcg::standin
