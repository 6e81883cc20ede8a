// SPDX-License-Identifier: Apache-2.0
#include "plan/makers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.hpp"

namespace kcg {

namespace {

constexpr std::array<std::string_view, 3> kEngines = {"cri-containerd-", "crio-", "docker-"};
constexpr std::array<std::string_view, 4> kClasses = {"vcpu", "io", "vmm", "shim"};
constexpr std::string_view kOverhead = "/kata_overhead";
constexpr std::string_view kOverheadSlice = "/kata.slice/kata-overhead.slice";

/// What stands between `prefix` and `suffix`; nullopt: they do not frame the text.
std::optional<std::string_view> inside(std::string_view text, std::string_view prefix,
                                       std::string_view suffix = "") {
  if (text.size() < prefix.size() + suffix.size()) return std::nullopt;
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return std::nullopt;
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

MadeBy of_sandbox(Maker maker, std::optional<std::string_view> id) {
  if (!id || !SandboxId::parse(*id)) return {};
  return {maker, std::string(*id)};
}

/// "crio-<id>" -> "<id>"; nullopt without an engine's prefix.
std::optional<std::string_view> without_engine(std::string_view text) {
  for (const auto engine : kEngines)
    if (const auto id = inside(text, engine)) return id;
  return std::nullopt;
}

/// A directory that is shared by all sandboxes, or one sandbox's directly below it.
MadeBy below(const CgroupPath& path, std::string_view root, Maker maker, std::string_view prefix,
             std::string_view suffix) {
  if (path.str() == root) return {maker, ""};
  if (path.parent().str() != root) return {};
  return of_sandbox(maker, inside(path.name(), prefix, suffix));
}

MadeBy our_top(const CgroupPath& path, std::string_view legacy_root) {
  if (const auto scope = inside(path.name(), "kata-sandbox-", ".scope"))
    return of_sandbox(Maker::ours, scope);
  if (const auto plain = inside(path.name(), "kata-sandbox-"))
    return of_sandbox(Maker::ours, plain);
  auto legacy = below(path, legacy_root, Maker::ours, "", "");
  if (legacy.maker != Maker::none) return legacy;
  return below(path, "/kata.slice", Maker::ours, "kata-", ".scope");
}

MadeBy ours(const CgroupPath& path, std::string_view legacy_root) {
  if (std::find(kClasses.begin(), kClasses.end(), path.name()) != kClasses.end()) {
    auto top = our_top(path.parent(), legacy_root);
    if (!top.sandbox.empty()) return top;
  }
  return our_top(path, legacy_root);
}

MadeBy overhead(const CgroupPath& path) {
  auto go = below(path, kOverhead, Maker::kata_overhead, "", "");
  if (go.maker != Maker::none) return go;
  return below(path, kOverheadSlice, Maker::kata_overhead, "runtime-rs-", ".scope");
}

MadeBy literal(const CgroupPath& path) {
  const auto parts = split(path.name(), ':');
  if (!path.parent().is_root() || parts.size() != 3 || !inside(parts[0], "", ".slice")) return {};
  return of_sandbox(Maker::kata_literal, parts[2]);
}

MadeBy engine_scope(const CgroupPath& path) {
  const auto unit = inside(path.name(), "", ".scope");
  if (!unit || !inside(path.parent().name(), "", ".slice")) return {};
  if (inside(*unit, "crio-conmon-")) return {};  // CRI-O's monitor of a container
  return of_sandbox(Maker::engine_scope, without_engine(*unit));
}

MadeBy cgroupfs(const CgroupPath& path) {
  const auto id = inside(path.name(), "kata_");
  if (!id) return {};
  return of_sandbox(Maker::kata_cgroupfs, without_engine(*id).value_or(*id));
}

bool kubelet(const CgroupPath& path) {
  const auto parts = split(path.str(), '/');
  auto at = std::find_if(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "kubepods" || part == "kubepods.slice";
  });
  if (at == parts.end()) return false;
  return std::all_of(at + 1, parts.end(), [](std::string_view part) {
    return part == "burstable" || part == "besteffort" || part.starts_with("pod") ||
           inside(part, "kubepods-", ".slice").has_value();
  });
}

}  // namespace

std::string_view name(Maker maker) {
  switch (maker) {
    case Maker::kubelet:
      return "kubelet";
    case Maker::kata_cgroupfs:
      return "kata-cgroupfs";
    case Maker::engine_scope:
      return "engine-scope";
    case Maker::kata_literal:
      return "kata-literal";
    case Maker::kata_overhead:
      return "kata-overhead";
    case Maker::kata_shared:
      return "kata-shared";
    case Maker::ours:
      return "ours";
    case Maker::none:
      break;
  }
  return "none";
}

MadeBy made_by(const CgroupPath& path, std::string_view legacy_root) {
  if (path.is_root()) return {};
  if (path.str() == "/kata_vc") return {Maker::kata_shared, ""};
  // With legacy_root = "/kata_overhead" Kata's directories and ours are the same ones.
  for (const auto& known :
       {overhead(path), ours(path, legacy_root), literal(path), engine_scope(path), cgroupfs(path)})
    if (known.maker != Maker::none) return known;
  return kubelet(path) ? MadeBy{Maker::kubelet, ""} : MadeBy{};
}

}  // namespace kcg
