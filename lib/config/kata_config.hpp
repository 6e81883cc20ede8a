// SPDX-License-Identifier: Apache-2.0
//
// What Kata's own configuration.toml says (L3). Read leniently: the file is another product's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Value: a flag of [runtime], and the line where it stands.
struct KataConfigWord {
  bool value = false;
  unsigned line = 0;
  bool operator==(const KataConfigWord&) const = default;
};
/// Value: [hypervisor.<name>] default_memory, and the line where it stands.
struct KataMemoryWord {
  std::uint64_t mib = 0;
  unsigned line = 0;
  bool operator==(const KataMemoryWord&) const = default;
};
/// Value: [hypervisor.<name>] enable_annotations, and the line where it stands.
struct KataAnnotationsWord {
  std::vector<std::string> patterns;  ///< regular expressions, sought in the key's last part
  unsigned line = 0;
  bool operator==(const KataAnnotationsWord&) const = default;
};
/// Value: what the product reads of it. Absent: not given, of another type, or the text is no TOML.
struct KataConfigWords {
  std::optional<KataConfigWord> only;
  /// [runtime] enable_vcpus_pinning; false in line 0 where a text that is TOML does not give it, as
  /// Kata takes it. Of another type: absent.
  std::optional<KataConfigWord> pinning;
  std::map<std::string, KataMemoryWord> default_memory;    ///< by the hypervisor's name
  std::map<std::string, KataAnnotationsWord> annotations;  ///< by the hypervisor's name
  bool rust = false;  ///< of runtime-rs, which alone has [runtime] name
};
[[nodiscard]] KataConfigWords parse_kata_config(std::string_view toml);

}  // namespace kcg
