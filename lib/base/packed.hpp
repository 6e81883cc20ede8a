// SPDX-License-Identifier: Apache-2.0
//
// A value that is kept for long and asked for seldom, in one piece of memory (L0): thousands are
// kept, and a struct of texts, maps and what is mostly absent takes several times as much. What can
// be packed are numbers, enums, texts, optionals, vectors, sets, maps, and structs with a function
// fields(Bytes&, Struct&) that calls its first argument with all fields, always in the same order.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kcg {

/// `Part` is a `Struct`, const where it is packed.
template <class Part, class Struct>
concept PartLike = std::same_as<std::remove_const_t<Part>, Struct>;

template <class Field>
concept PackedAsItIs = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;

/// Appends values, each as its bytes.
class Packer final {
 public:
  template <class... Fields>
  void operator()(const Fields&... values) {
    (put(values), ...);
  }
  /// Of the texts that follow only what they do not begin with like this one does.
  void begin_with(std::string_view base) { base_ = base; }
  std::string take() {
    bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  template <PackedAsItIs Field>
  void put(const Field& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  template <class Struct>
  void put(const Struct& value) {
    fields(*this, value);
  }
  void put(const std::string& text) {
    const auto alike = std::mismatch(base_.begin(), base_.end(), text.begin(), text.end()).first;
    const auto common = static_cast<std::size_t>(alike - base_.begin());
    put_size(common);
    put_size(text.size() - common);
    bytes_.append(text, common);
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
  template <class Key, class Value>
  void put(const std::map<Key, Value>& all) {
    put_size(all.size());
    for (const auto& [key, value] : all) (*this)(key, value);
  }
  /// Seven bits a byte, the last ones first; the highest bit says that there are more.
  void put_size(std::size_t size) {
    for (; size >= 0x80; size >>= 7) bytes_ += static_cast<char>(0x80 | (size & 0x7f));
    bytes_ += static_cast<char>(size);
  }

  std::string bytes_;
  std::string_view base_;
};

/// Takes them off again, in the same order.
class Unpacker final {
 public:
  explicit Unpacker(std::string_view packed) : left_(packed) {}
  template <class... Fields>
  void operator()(Fields&... values) {
    (take(values), ...);
  }
  void begin_with(std::string_view base) { base_ = base; }

 private:
  template <PackedAsItIs Field>
  void take(Field& value) {
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
  }
  template <class Struct>
  void take(Struct& value) {
    fields(*this, value);
  }
  void take(std::string& text) {
    text = base_.substr(0, size());
    text += bytes(size());
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
  std::size_t size() {
    std::size_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes(1).front());
      size |= static_cast<std::size_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return size;
    }
  }

  std::string_view left_;
  std::string_view base_;
};

/// Value: see the head of the file. Equal ones hold equal values.
template <class Struct>
class Packed final {
 public:
  Packed() = default;  ///< of Struct()
  explicit Packed(const Struct& value) {
    Packer packer;
    fields(packer, value);
    bytes_ = packer.take();
  }

  /// As it was given.
  [[nodiscard]] Struct whole() const {
    Struct value;
    if (bytes_.empty()) return value;
    Unpacker unpacker(bytes_);
    fields(unpacker, value);
    return value;
  }
  /// Bytes.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  bool operator==(const Packed&) const = default;

 private:
  std::string bytes_;
};

}  // namespace kcg
