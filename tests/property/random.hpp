// SPDX-License-Identifier: Apache-2.0
//
// Random choices from one printed number. KCG_SEED repeats a run, KCG_CASES sets its length.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace kcg::test {

/// Resource-free: a generator whose sequence is the same everywhere (no std distributions).
class Random final {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// 0 <= result < bound
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : engine_() % bound; }
  unsigned upto(unsigned most) { return static_cast<unsigned>(below(most + 1ULL)); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

inline std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
/// The run's first seed; case k uses seed + k.
inline std::uint64_t first_seed() {
  static const std::uint64_t seed = env_number("KCG_SEED", std::random_device{}());
  return seed;
}
inline std::uint64_t case_count(std::uint64_t otherwise) {
  return env_number("KCG_CASES", otherwise);
}

}  // namespace kcg::test
