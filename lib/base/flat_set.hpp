// SPDX-License-Identifier: Apache-2.0
//
// A set in one piece of memory (L0), as C++23's std::flat_set: for a few values of which thousands
// have some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace kcg {

/// Value: ascending, each once. A change takes time in proportion to the size.
template <class T>
class FlatSet final {
 public:
  using const_iterator = typename std::vector<T>::const_iterator;

  FlatSet() = default;
  FlatSet(std::initializer_list<T> values) : FlatSet(std::vector<T>(values)) {}
  explicit FlatSet(std::vector<T> values) : values_(std::move(values)) { order(); }
  template <class Range>
  explicit FlatSet(const Range& values) : FlatSet(std::vector<T>(values.begin(), values.end())) {}

  [[nodiscard]] const_iterator begin() const { return values_.begin(); }
  [[nodiscard]] const_iterator end() const { return values_.end(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool contains(const T& value) const {
    return std::binary_search(begin(), end(), value);
  }
  /// Whether it was not there yet.
  bool insert(T value) {
    const auto at = std::lower_bound(begin(), end(), value);
    const bool fresh = at == end() || *at != value;
    if (fresh) values_.insert(at, std::move(value));
    return fresh;
  }
  void erase(const T& value) {
    const auto at = std::lower_bound(begin(), end(), value);
    if (at != end() && *at == value) values_.erase(at);
  }
  template <class Which>
  void erase_if(const Which& which) {
    std::erase_if(values_, which);
  }
  bool operator==(const FlatSet&) const = default;

 private:
  void order() {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    values_.shrink_to_fit();
  }

  std::vector<T> values_;
};

}  // namespace kcg
