// SPDX-License-Identifier: Apache-2.0
#include "oci/cgroups_path.hpp"

#include <vector>

#include "base/text.hpp"

namespace kcg {

namespace {

constexpr std::string_view kSlice = ".slice";
constexpr std::string_view kRelativeRoot = "/vc";  ///< where Kata puts paths without a leading '/'
constexpr std::size_t kLongest = 4095;

/// Lexical: "." and empty parts go, ".." takes its parent along and stops at "/".
std::string cleaned(std::string_view text) {
  std::vector<std::string_view> kept;
  for (const auto part : split(text, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      kept.push_back(part);
    else if (!kept.empty())
      kept.pop_back();
  }
  std::string path;
  for (const auto part : kept) path.append("/").append(part);
  return path.empty() ? "/" : path;
}

Result<CgroupsPath> parse_systemd(const std::vector<std::string_view>& parts) {
  CgroupsPath found;
  found.driver = Driver::systemd;
  found.slice = parts[0];
  found.prefix = parts[1];
  found.name = parts[2];
  if (found.prefix.empty() || found.name.empty())
    return fail(0, "'slice:prefix:name' has an empty part");
  auto slice = expand_slice(found.slice);
  if (!slice) return forward(slice.error());
  auto scope = slice->child(found.prefix + "-" + found.name + ".scope");
  if (!scope) return forward(scope.error());
  found.pod = *slice;
  found.full = *scope;
  return found;
}

Result<CgroupsPath> parse_plain(std::string_view text) {
  const bool absolute = text.starts_with('/');
  const auto clean = cleaned(text);
  CgroupsPath found;
  auto full = CgroupPath::parse(absolute       ? clean
                                : clean == "/" ? std::string(kRelativeRoot)
                                               : std::string(kRelativeRoot) + clean);
  if (!full) return forward(full.error());
  found.full = *full;
  found.name = full->name();
  // An empty path names Kata's own root, which is the pod cgroup itself.
  found.pod = !absolute && clean == "/" ? *full : full->parent();
  return found;
}

}  // namespace

Result<CgroupPath> expand_slice(std::string_view slice) {
  if (!slice.ends_with(kSlice) || slice.find('/') != std::string_view::npos)
    return fail(0, "slice '{}': must be a name that ends in '.slice'", escaped(slice, 256));
  if (slice == "-.slice") return CgroupPath();
  const auto stem = slice.substr(0, slice.size() - kSlice.size());
  CgroupPath path;
  std::string name;
  for (const auto part : split(stem, '-')) {
    if (part.empty())
      return fail(0, "slice '{}': has an empty part between its dashes", escaped(slice, 256));
    name.append(name.empty() ? "" : "-").append(part);
    auto next = path.child(name + std::string(kSlice));
    if (!next) return forward(next.error(), "slice");
    path = *next;
  }
  return path;
}

Result<CgroupsPath> parse_cgroups_path(std::string_view text) {
  if (text.size() > kLongest) return fail(0, "cgroupsPath: longer than {} bytes", kLongest);
  const auto parts = split(text, ':');
  auto found =
      parts.size() == 3 && parts[0].ends_with(kSlice) ? parse_systemd(parts) : parse_plain(text);
  if (!found) return forward(found.error(), fmt::format("cgroupsPath '{}'", escaped(text, 256)));
  return found;
}

Result<CgroupsPath> cgroups_path_of(const SandboxInputs& inputs) {
  const auto text = inputs.cgroups_path();
  if (!text) return fail(0, "no bundle and no registration tells the cgroupsPath");
  return parse_cgroups_path(*text);
}

}  // namespace kcg
