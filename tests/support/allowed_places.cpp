// SPDX-License-Identifier: Apache-2.0
#include "support/allowed_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kcg::test {

namespace {

using Parts = std::vector<std::string>;

Parts parts_of(const std::string& text, char separator) {
  Parts parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Where 64 characters of an id begin, or npos.
std::size_t id_at(const std::string& name) {
  constexpr const char* kIdCharacters = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (auto begin = name.find_first_of(kIdCharacters); begin != std::string::npos;) {
    const auto end = std::min(name.find_first_not_of(kIdCharacters, begin), name.size());
    if (end - begin >= 64) return begin;
    begin = name.find_first_of(kIdCharacters, end);
  }
  return std::string::npos;
}

}  // namespace

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string below(const std::string& path, const std::string& name) {
  return fmt::format("{}/{}", path == "/" ? std::string() : path, name);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool in_scope(const std::string& path) { return path.find(".scope/") != std::string::npos; }

Place place_of(const SandboxInputs& inputs) {
  Place place;
  if (!inputs.cgroups_path()) return place;
  const std::string text = *inputs.cgroups_path();
  const auto colons = parts_of(text, ':');
  if (colons.size() == 3 && ends_with(colons[0], ".slice")) {
    place.systemd = true;
    if (colons[0] == "-.slice") {
      place.pod = std::string("/");
    } else {
      std::string so_far;
      std::string path;
      for (const auto& part : parts_of(colons[0].substr(0, colons[0].size() - 6), '-')) {
        so_far = so_far.empty() ? part : fmt::format("{}-{}", so_far, part);
        path += fmt::format("/{}.slice", so_far);
      }
      place.pod = path;
    }
    place.kata_sibling = fmt::format("kata_{}-{}", colons[1], colons[2]);
    place.scope = below(place.pod, fmt::format("{}-{}.scope", colons[1], colons[2]));
    return place;
  }
  Parts kept;
  for (const auto& part : parts_of(text, '/')) {
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!part.empty() && part != ".") {
      kept.push_back(part);
    }
  }
  const bool absolute = !text.empty() && text[0] == '/';
  if (!absolute) kept.insert(kept.begin(), std::string("vc"));
  const std::string name = kept.empty() ? "" : kept.back();
  // Without a name of its own the sandbox sits at the top: "/" or Kata's "/vc".
  const bool own = kept.empty() || (!absolute && kept.size() == 1);
  if (!own) kept.pop_back();
  for (const auto& part : kept) place.pod += fmt::format("/{}", part);
  if (place.pod.empty()) place.pod = std::string("/");
  place.kata_sibling = fmt::format("kata_{}", own ? inputs.id.str() : name);
  place.kata = own ? "/kata_vc" : below(place.pod, place.kata_sibling);
  return place;
}

bool like_a_container(const std::string& name) { return id_at(name) != std::string::npos; }

std::string name_in_scope(std::string name) {
  for (auto at = id_at(name); at != std::string::npos; at = id_at(name))
    name.insert(at + 32, 1, '-');
  return name;
}

}  // namespace kcg::test
