// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/mountinfo.hpp"
#include "require.hpp"

namespace {

/// As the kernel writes a field.
std::string escaped_field(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\')
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string line_of(const kcg::Mount& mount) {
  std::vector<std::string> options;
  for (const auto& option : mount.super_options) options.push_back(escaped_field(option));
  return fmt::format("1 2 0:3 {} {} rw shared:1 - {} {} {}\n", escaped_field(mount.root),
                     escaped_field(mount.mount_point), escaped_field(mount.fs_type),
                     escaped_field(mount.source), kcg::join(options, ","));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto mounts = parse_mountinfo(text_of(data, size));
  if (!mounts) {
    require_good_text(mounts.error());
    return 0;
  }
  std::string written;
  for (const auto& mount : *mounts) written += line_of(mount);
  const auto again = parse_mountinfo(written);
  require(again.has_value(), "what was written is read");
  for (std::size_t i = 0; i < mounts->size(); ++i) {
    require(again->at(i).mount_point == mounts->at(i).mount_point, "mount points round-trip");
    require(again->at(i).root == mounts->at(i).root, "roots round-trip");
  }
  return 0;
}
