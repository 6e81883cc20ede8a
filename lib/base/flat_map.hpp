// SPDX-License-Identifier: Apache-2.0
//
// A map in one piece of memory (L0), as C++23's std::flat_map: for a few values of which thousands
// have some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kcg {

/// Value: ascending by key, each once. A change takes time in proportion to the size; nobody
/// changes a key.
template <class Key, class T>
class FlatMap final {
 public:
  using iterator = typename std::vector<std::pair<Key, T>>::iterator;
  using const_iterator = typename std::vector<std::pair<Key, T>>::const_iterator;

  [[nodiscard]] iterator begin() { return values_.begin(); }
  [[nodiscard]] iterator end() { return values_.end(); }
  [[nodiscard]] const_iterator begin() const { return values_.begin(); }
  [[nodiscard]] const_iterator end() const { return values_.end(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const_iterator find(const Key& key) const {
    const auto at = std::lower_bound(begin(), end(), key, before);
    return at != end() && at->first == key ? at : end();
  }
  /// Made if there is none.
  [[nodiscard]] T& operator[](const Key& key) {
    const auto at = std::lower_bound(begin(), end(), key, before);
    if (at != end() && at->first == key) return at->second;
    return values_.emplace(at, key, T())->second;
  }
  template <class Which>
  void erase_if(const Which& which) {
    std::erase_if(values_, which);
  }
  /// Gives back what it has grown by in advance.
  void shrink() { values_.shrink_to_fit(); }
  bool operator==(const FlatMap&) const = default;

 private:
  static bool before(const std::pair<Key, T>& one, const Key& key) { return one.first < key; }

  std::vector<std::pair<Key, T>> values_;
};

}  // namespace kcg
