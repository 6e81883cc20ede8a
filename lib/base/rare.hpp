// SPDX-License-Identifier: Apache-2.0
//
// What few of many have (L0): the others spend a pointer on it.
#pragma once

#include <memory>
#include <utility>

namespace kcg {

/// Value: a T that is T() mostly. Copies are whole copies.
template <class T>
class Rare final {
 public:
  Rare() = default;
  Rare(const Rare& other) : rare_(other.rare_ ? std::make_unique<T>(*other.rare_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare other) noexcept {
    std::swap(rare_, other.rare_);
    return *this;
  }
  ~Rare() = default;

  [[nodiscard]] const T& get() const {
    static const T ordinary{};
    return rare_ ? *rare_ : ordinary;
  }
  [[nodiscard]] const T* operator->() const { return &get(); }
  [[nodiscard]] bool ordinary() const { return rare_ == nullptr; }
  template <class Change>
  void change(const Change& change) {
    auto value = rare_ ? std::move(rare_) : std::make_unique<T>();
    change(*value);
    if (!(*value == T())) rare_ = std::move(value);
  }
  bool operator==(const Rare& other) const { return get() == other.get(); }

 private:
  std::unique_ptr<T> rare_;
};

}  // namespace kcg
