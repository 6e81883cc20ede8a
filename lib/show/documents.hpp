// SPDX-License-Identifier: Apache-2.0
//
// Putting JSON documents of many sandboxes together (L4).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// A document of all sandboxes from those of single ones, where putting it together at once would
/// take too long: the entry that one becomes, and what is around all entries.
[[nodiscard]] std::string entry_of_document(std::string_view document);
[[nodiscard]] std::string document_of_entries(const std::vector<std::string>& entries);

}  // namespace kcg
