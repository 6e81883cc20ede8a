// SPDX-License-Identifier: Apache-2.0
//
// The bytes choose an observation that no honest node shows; no plan of it may write where it must
// not.
#include <cstring>

#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "require.hpp"
#include "support/allowed.hpp"
#include "support/hostile.hpp"

namespace {

/// Resource-free: choices from bytes, all 0 when they are used up.
class Bytes final {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t value = 0;
    const std::size_t wanted = bound <= 256 ? 1 : sizeof value;
    const auto count = std::min(wanted, size_);
    if (count > 0) std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value % bound;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  Bytes bytes(data, size);
  const auto given = test::hostile([&bytes](std::uint64_t bound) { return bytes.below(bound); });
  const auto want = desired(given.config, given.observed);
  const auto plan = diff(given.observed, want);
  const auto forbidden = test::forbidden_text(given.config, given.observed, plan);
  require(forbidden.empty(), forbidden.c_str());
  if (want.act) return 0;
  require(plan.steps.empty(), "nothing is planned while nothing is to be done");
  require(!want.waiting_for.empty(), "who waits says for what");
  return 0;
}
