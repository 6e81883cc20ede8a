// SPDX-License-Identifier: Apache-2.0
//
// A value that is kept for long and asked for seldom, in one piece of memory (L0): thousands are
// kept, and a struct of texts, maps and what is mostly absent takes several times as much. What can
// be packed are whole numbers, enums, texts, optionals, vectors, sets, maps, and structs with a
// function fields(Bytes&, Struct&) that calls its first argument with all fields, always in the
// same order. A number takes as many bytes as it needs. A text is how it goes on after what it
// begins with like one of those before it: most that is kept here is paths and ids, said again and
// again.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/flat_set.hpp"

namespace kcg {

/// `Part` is a `Struct`, const where it is packed.
template <class Part, class Struct>
concept PartLike = std::same_as<std::remove_const_t<Part>, Struct>;

template <class Field>
concept PackedNumber = std::integral<Field> || std::is_enum_v<Field>;

/// The last texts of a pack, in the order in which they were said.
class TextsBefore final {
 public:
  /// Value: how a text begins: like the one that is `back` texts before it, for `common` bytes.
  struct Begin {
    std::size_t back = 0;  ///< 0: like none of them
    std::size_t common = 0;
  };

  /// Of those that it begins like the longest, the last one.
  [[nodiscard]] Begin begin_of(std::string_view text) const {
    Begin best{0, kWorthIt - 1};
    if (text.size() < kWorthIt) return {};
    for (std::size_t back = 1; back <= std::min(said_, kKept); ++back) {
      const auto one = at(back);
      if (std::min(one.size(), text.size()) <= best.common) continue;
      if (one[best.common] != text[best.common]) continue;
      const auto alike = std::mismatch(one.begin(), one.end(), text.begin(), text.end()).first;
      const auto common = static_cast<std::size_t>(alike - one.begin());
      if (common > best.common) best = {back, common};
    }
    return best.back == 0 ? Begin() : best;
  }
  /// Until the next one is added.
  [[nodiscard]] std::string_view at(std::size_t back) const {
    const auto& [begin, size] = places_[(said_ - back) % kKept];
    return std::string_view(all_).substr(begin, size);
  }
  void add(std::string_view text) {
    if (text.size() < kWorthIt) return;
    places_[said_++ % kKept] = {all_.size(), text.size()};
    all_ += text;
  }

 private:
  static constexpr std::size_t kKept = 64;
  static constexpr std::size_t kWorthIt = 4;  ///< bytes: what is shorter is said at less cost

  std::string all_;  ///< one after another: a text itself may be moved before the next one is said
  std::array<std::pair<std::size_t, std::size_t>, kKept> places_{};
  std::size_t said_ = 0;
};

/// Appends values.
class Packer final {
 public:
  template <class... Fields>
  void operator()(const Fields&... values) {
    (put(values), ...);
  }
  std::string take() {
    bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  /// Those near 0 are short, negative ones too.
  template <PackedNumber Field>
  void put(const Field& value) {
    const auto number = static_cast<std::uint64_t>(value);
    if constexpr (std::is_signed_v<Field>)
      put_size((number << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    else
      put_size(number);
  }
  template <class Struct>
  void put(const Struct& value) {
    fields(*this, value);
  }
  /// Twice as many bytes as follow, and 1 if that begins like another one does: which, and how far.
  void put(const std::string& text) {
    const auto [back, common] = before_.begin_of(text);
    put_size((text.size() - common) * 2 + (back != 0 ? 1 : 0));
    if (back != 0) (*this)(back, common);
    bytes_.append(text, common);
    before_.add(text);
  }
  template <class One>
  void put(const std::optional<One>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class One>
  void put(const std::vector<One>& all) {
    put_size(all.size());
    for (const auto& one : all) put(one);
  }
  template <class One>
  void put(const std::set<One>& all) {
    put_size(all.size());
    for (const auto& one : all) put(one);
  }
  template <class One>
  void put(const FlatSet<One>& all) {
    put_size(all.size());
    for (const auto& one : all) put(one);
  }
  template <class Key, class Value>
  void put(const std::map<Key, Value>& all) {
    put_size(all.size());
    for (const auto& [key, value] : all) (*this)(key, value);
  }
  /// Seven bits a byte, the last ones first; the highest bit says that there are more.
  void put_size(std::uint64_t size) {
    for (; size >= 0x80; size >>= 7U) bytes_ += static_cast<char>(0x80 | (size & 0x7f));
    bytes_ += static_cast<char>(size);
  }

  std::string bytes_;
  TextsBefore before_;
};

/// Takes them off again, in the same order.
class Unpacker final {
 public:
  explicit Unpacker(std::string_view packed) : left_(packed) {}
  template <class... Fields>
  void operator()(Fields&... values) {
    (take(values), ...);
  }

 private:
  template <PackedNumber Field>
  void take(Field& value) {
    const auto number = size();
    if constexpr (std::is_signed_v<Field>)
      value = static_cast<Field>((number >> 1U) ^ ((number & 1U) != 0 ? ~std::uint64_t{0} : 0));
    else
      value = static_cast<Field>(number);
  }
  template <class Struct>
  void take(Struct& value) {
    fields(*this, value);
  }
  void take(std::string& text) {
    const auto follows = size();
    TextsBefore::Begin begin;
    if (follows % 2 != 0) (*this)(begin.back, begin.common);
    text = begin.back == 0 ? "" : before_.at(begin.back).substr(0, begin.common);
    text += bytes(follows / 2);
    before_.add(text);
  }
  template <class One>
  void take(std::optional<One>& value) {
    bool has = false;
    take(has);
    if (has) take(value.emplace());
  }
  template <class One>
  void take(std::vector<One>& all) {
    all.resize(size());
    for (auto& one : all) take(one);
  }
  template <class One>
  void take(std::set<One>& all) {
    for (auto left = size(); left > 0; --left) {
      One one;
      take(one);
      all.insert(all.end(), std::move(one));
    }
  }
  template <class One>
  void take(FlatSet<One>& all) {
    std::vector<One> values;
    take(values);
    all = FlatSet<One>(std::move(values));
  }
  template <class Key, class Value>
  void take(std::map<Key, Value>& all) {
    for (auto left = size(); left > 0; --left) {
      Key key;
      take(key);
      take(all.emplace_hint(all.end(), std::move(key), Value())->second);
    }
  }
  std::string_view bytes(std::size_t count) {
    const auto taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t size() {
    std::uint64_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes(1).front());
      size |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return size;
    }
  }

  std::string_view left_;
  TextsBefore before_;
};

/// Value: see the head of the file. Equal ones hold equal values.
template <class Whole>
class Packed final {
 public:
  Packed() = default;  ///< of Whole()
  explicit Packed(const Whole& value) {
    Packer packer;
    packer(value);
    bytes_ = packer.take();
  }

  /// As it was given.
  [[nodiscard]] Whole whole() const {
    Whole value;
    if (bytes_.empty()) return value;
    Unpacker unpacker(bytes_);
    unpacker(value);
    return value;
  }
  /// Bytes.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  bool operator==(const Packed&) const = default;

 private:
  std::string bytes_;
};

}  // namespace kcg
