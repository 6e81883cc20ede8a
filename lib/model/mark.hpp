// SPDX-License-Identifier: Apache-2.0
//
// The mark of a group that we made (L1): who wrote it, what it says, and when it is believed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace kcg {

/// Who may write attributes of this kind is root of the node, and nobody else.
inline constexpr const char* kMarkAttribute = "trusted.kata-cgroupd";
/// What versions before wrote; the owner of a directory can set it, too.
inline constexpr const char* kEarlierMarkAttribute = "user.kata-cgroupd";
/// The longest mark: an id, a blank, and a path.
inline constexpr std::size_t kLongestMark = 128 + 1 + 4096;

/// Value: what stands at a directory, and whose it is.
struct MarkFacts {
  std::optional<std::string> mark;     ///< value of kMarkAttribute
  std::optional<std::string> earlier;  ///< value of kEarlierMarkAttribute
  bool roots = false;                  ///< root owns the directory
  bool roots_alone = false;  ///< and nobody else may write it, nor owns a directory above it
};

/// Value: a mark that is believed. A group that the daemon of another run root made carries one,
/// too, whose text is no id: it is nobody's group here, and yet not free.
struct Mark {
  std::string text;      ///< the sandbox id; of another daemon's group "<id> <run root>"
  bool earlier = false;  ///< in the earlier form: to be written anew
  bool operator==(const Mark&) const = default;
};

/// What is written: "<id>", or "<id> <run root>" by a daemon that has a run root of its own.
/// `run_root`: "" for the node's own /run.
[[nodiscard]] std::string mark_value(std::string_view id, std::string_view run_root);

/// nullopt: there is none, or none that counts. Whatever else than an id and perhaps a run root it
/// says, it is another daemon's.
[[nodiscard]] std::optional<Mark> believed_mark(const MarkFacts& facts, std::string_view run_root);

/// Where a group with this id in its mark may stand, as far as its name tells: the sandbox's own
/// group in any layout, or one of the class groups below it. An id that is known only from a mark
/// elsewhere is not looked at.
[[nodiscard]] bool mark_fits(const SandboxId& id, const CgroupPath& path);
/// Nobody but us makes a group of this name for this sandbox: "kata-sandbox-<id>", no scope of
/// systemd's, or one of the class groups below it.
[[nodiscard]] bool only_ours(const SandboxId& id, const CgroupPath& path);

}  // namespace kcg
