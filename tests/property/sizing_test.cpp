// SPDX-License-Identifier: Apache-2.0
//
// size() on random inputs, absurd ones included. The seed is printed; KCG_SEED=<number> repeats a
// run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>

#include "base/text.hpp"
#include "sizing/containers.hpp"
#include "sizing/numbers.hpp"
#include "sizing/sizing.hpp"

namespace kcg {
namespace {

const Config kDefaults;
constexpr int kRounds = 20'000;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kPage = 4096;

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("KCG_SEED");
    const auto number = given == nullptr ? std::nullopt : parse_u64(given);
    return number ? *number : std::random_device()();
  }();
  return value;
}

/// Resource: the source of chance of one test.
class Random final {
 public:
  explicit Random(std::uint64_t salt) : engine_(seed() + salt) {}

  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
  }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  /// All magnitudes, and the edges of 32, 63 and 64 bits more often than chance has it.
  std::uint64_t number() {
    constexpr std::array<std::uint64_t, 9> kEdges = {0,
                                                     1,
                                                     4095,
                                                     4096,
                                                     4294967295,
                                                     4294967296,
                                                     9223372036854775807U,
                                                     9223372036854775808U,
                                                     18446744073709551615U};
    if (chance(8)) return kEdges.at(below(kEdges.size()));
    return engine_() >> below(64);
  }
  std::int64_t signed_number() { return static_cast<std::int64_t>(number()); }
  template <class T>
  std::optional<T> maybe(T value) {
    return chance(4) ? std::nullopt : std::optional(value);
  }

 private:
  std::mt19937_64 engine_;
};

Resources random_resources(Random& random) {
  Resources out;
  out.memory_limit = random.maybe(random.signed_number());
  out.cpu_quota = random.maybe(random.signed_number());
  out.cpu_period = random.maybe(random.number());
  out.cpu_shares = random.maybe(random.number());
  if (random.chance(3)) out.cpus = "0-" + std::to_string(random.below(64));
  if (random.chance(3)) out.hugepages["2MB"] = random.number();
  return out;
}

Bundle container(int number, Resources resources) {
  Bundle out;
  out.id = "c" + std::to_string(number);
  out.type = BundleType::container;
  out.resources = std::move(resources);
  return out;
}

SandboxInputs random_inputs(Random& random) {
  SandboxInputs out;
  out.id = SandboxId::parse("s1").value();
  out.bundle = Bundle();
  out.bundle->id = "s1";
  out.bundle->type = random.chance(4) ? BundleType::single : BundleType::sandbox;
  out.bundle->resources = random_resources(random);
  out.bundle->total_memory = random.maybe(random.number());
  out.bundle->total_cpu_quota = random.maybe(random.signed_number());
  out.bundle->total_cpu_period = random.maybe(random.number());
  out.bundle->total_cpu_shares = random.maybe(random.number());
  if (random.chance(2)) out.bundle->overhead_annotation = std::to_string(random.number() >> 40);
  if (out.bundle->type == BundleType::sandbox)
    for (int i = static_cast<int>(random.below(5)); i > 0; --i)
      out.containers.push_back(container(i, random_resources(random)));
  if (random.chance(2)) {
    out.registration = Registration();
    out.registration->pod.uid = "u";
    out.registration->memory_overhead = random.maybe(random.number());
    out.registration->cpu_overhead_milli =
        random.maybe(static_cast<std::uint32_t>(random.number() >> 32));
  }
  if (random.chance(2)) {
    out.kata = KataState();
    out.kata->boot_memory_mib = random.number();
    out.kata->hotplugged_memory_mib = random.number();
  }
  if (random.chance(2)) {
    out.node = NodeData();
    out.node->overhead = {random.maybe(random.number()), random.maybe(random.number() >> 10)};
    out.node->limits.memory = random.maybe(random.number());
    out.node->containers["c1"] = random_resources(random);
  }
  return out;
}

SizingRequest random_request(Random& random) {
  SizingRequest out;
  out.layout = random.chance(3) ? Layout::legacy : Layout::sandbox_only;
  out.unified = random.chance(2);
  out.page_size = random.chance(3) ? 65536 : kPage;
  out.vcpus = static_cast<std::uint32_t>(random.number());
  out.vmm_memory = random.maybe(random.number());
  out.parent.smallest_memory_max = random.maybe(random.number());
  out.parent.smallest_quota_us = random.maybe(random.number());
  out.parent.pod_shares = random.maybe(random.number());
  out.parent.pod_weight = random.maybe(random.number());
  out.history.largest_memory_sum = random.maybe(random.number());
  out.history.container_started = random.chance(2);
  return out;
}

Config random_config(Random& random) {
  Config out;
  out.sizing.memory = static_cast<MemorySizing>(random.below(3));
  out.sizing.vcpu_quota = !random.chance(4);
  out.overhead.default_mib = random.number();
  out.overhead.default_millicpu = random.number();
  out.overhead.max_mib = random.number();
  return out;
}

using Check = std::function<void(const WantedFile&)>;

void for_each_file(const Sizing& sizing, const Check& check) {
  for (const auto* list : {&sizing.sandbox, &sizing.vcpu, &sizing.other_class, &sizing.constrained})
    for (const auto& file : *list) check(file);
}

std::uint64_t file_value(const WantedFile& file) {
  return parse_u64(file.value.substr(0, file.value.find(' '))).value_or(kUnlimited);
}

/// What the kernel takes in each of the files.
void expect_writable(const WantedFile& file, std::uint64_t page) {
  const auto value = file_value(file);
  SCOPED_TRACE(file.key + "=" + file.value);
  if (file.key == "memory.max" || file.key == "memory.limit_in_bytes") {
    EXPECT_EQ(value % page, 0U);
    EXPECT_GT(value, 0U);
    EXPECT_LT(value, (std::uint64_t{1} << 63) - 65536);
  } else if (file.key == "cpu.max" || file.key == "cpu.cfs_quota_us") {
    EXPECT_GE(value, 1000U);
    EXPECT_LT(value, std::uint64_t{1} << 44);
  } else if (file.key == "cpu.weight") {
    EXPECT_GE(value, 1U);
    EXPECT_LE(value, 10'000U);
  } else if (file.key == "cpu.shares") {
    EXPECT_GE(value, 2U);
    EXPECT_LE(value, 262'144U);
  } else {
    EXPECT_EQ(file.key, "cpu.cfs_period_us");
    EXPECT_EQ(value, 100'000U);
  }
}

TEST(SizingProperty, WhateverComesInOnlyWritableLimitsComeOut) {
  RecordProperty("seed", std::to_string(seed()));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  Random random(1);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto config = random_config(random);
    const auto inputs = random_inputs(random);
    const auto request = random_request(random);
    const auto sizing = size(config, inputs, request);
    for_each_file(sizing, [&](const WantedFile& f) { expect_writable(f, request.page_size); });
    EXPECT_EQ(sizing.memory_max.has_value(),
              std::any_of(sizing.sandbox.begin(), sizing.sandbox.end(), [](const WantedFile& f) {
                return f.key == "memory.max" || f.key == "memory.limit_in_bytes";
              }));
    EXPECT_TRUE(request.layout != Layout::legacy || sizing.sandbox.empty());
  }
}

constexpr long double kMib = 1024 * 1024;

/// What the VM certainly booted with, as far as the VMM or Kata tell; else nothing is certain.
long double boot_memory(const SandboxInputs& inputs, const SizingRequest& request) {
  if (request.vmm_memory) return static_cast<long double>(*request.vmm_memory);
  return inputs.kata ? static_cast<long double>(inputs.kata->boot_memory_mib) * kMib : 0;
}

/// In numbers that cannot overflow 128 bits of exact arithmetic: long double has 64 bits of
/// mantissa.
long double exact_memory(const SandboxInputs& inputs, const SizingRequest& request,
                         const Sizing& sizing) {
  long double sum = 0;
  for (const auto& c : counted_containers(inputs))
    sum += static_cast<long double>(c.resources.memory_limit.value_or(0));
  sum = std::max(sum, static_cast<long double>(inputs.bundle->total_memory.value_or(0)));
  sum = std::max(sum, static_cast<long double>(request.history.largest_memory_sum.value_or(0)));
  return boot_memory(inputs, request) + sum +
         static_cast<long double>(sizing.overhead.memory_bytes);
}

TEST(SizingProperty, ALimitIsNeverBelowTheSumOfItsParts) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  Random random(2);
  int limited = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto config = random_config(random);
    config.sizing.memory = MemorySizing::always;
    const auto inputs = random_inputs(random);
    auto request = random_request(random);
    request.layout = Layout::sandbox_only;
    request.parent.smallest_quota_us.reset();
    request.history.container_started = config.sizing.vcpu_quota = true;
    const auto sizing = size(config, inputs, request);
    if (sizing.memory_max) {
      ++limited;
      EXPECT_GE(static_cast<long double>(*sizing.memory_max),
                exact_memory(inputs, request, sizing));
      for (const auto& c : counted_containers(inputs))
        EXPECT_GT(c.resources.memory_limit.value_or(0), 0) << "an unlimited container was limited";
    }
    for (const auto& file : sizing.vcpu) {
      if (file.key != "cpu.max" && file.key != "cpu.cfs_quota_us") continue;
      long double parts = 0;
      for (const auto& c : counted_containers(inputs)) {
        const auto period = c.resources.cpu_period.value_or(100'000);
        parts += static_cast<long double>(c.resources.cpu_quota.value_or(0)) * 100'000 /
                 static_cast<long double>(period == 0 ? 100'000 : period);
      }
      EXPECT_GE(static_cast<long double>(file_value(file)) * (1 + 1e-15L), parts);
    }
  }
  EXPECT_GT(limited, kRounds / 100) << "the inputs never led to a limit: nothing was tested";
}

/// Our limit is there to hold the overhead: what the kubelet granted and what Kata gave the guest
/// is never taken away.
TEST(SizingProperty, NeverBelowThePodsLimitNorTheMemoryThatKataGave) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  Random random(4);
  int limited = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto config = random_config(random);
    config.sizing.memory = MemorySizing::always;
    const auto inputs = random_inputs(random);
    auto request = random_request(random);
    request.layout = Layout::sandbox_only;
    const auto sizing = size(config, inputs, request);
    if (!sizing.memory_max) continue;
    ++limited;
    const auto granted = inputs.pod_less() ? 0 : request.parent.smallest_memory_max.value_or(0);
    EXPECT_GE(*sizing.memory_max, granted);
    const auto plugged =
        inputs.kata ? static_cast<long double>(inputs.kata->hotplugged_memory_mib) * kMib : 0;
    EXPECT_GE(static_cast<long double>(*sizing.memory_max), boot_memory(inputs, request) + plugged);
  }
  EXPECT_GT(limited, kRounds / 100) << "the inputs never led to a limit: nothing was tested";
}

/// One number of the inputs that may only be raised.
using Raise = std::function<void(SandboxInputs&, SizingRequest&, Random&)>;

std::int64_t raised(std::int64_t value, Random& random) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto by = static_cast<std::int64_t>(random.number() >> 1);
  return value > kMost - by ? kMost : value + by;
}

TEST(SizingProperty, MonotoneInEachInput) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  const std::array<Raise, 5> raises = {
      [](SandboxInputs& in, SizingRequest&, Random& r) {
        auto& limit = in.containers.front().resources.memory_limit;
        limit = raised(*limit, r);
      },
      [](SandboxInputs& in, SizingRequest&, Random& r) {
        auto& quota = in.containers.front().resources.cpu_quota;
        quota = raised(*quota, r);
      },
      [](SandboxInputs& in, SizingRequest&, Random& r) {
        auto& overhead = in.registration->memory_overhead;
        overhead = static_cast<std::uint64_t>(raised(static_cast<std::int64_t>(*overhead), r));
      },
      [](SandboxInputs&, SizingRequest& request, Random& r) {
        auto& sum = request.history.largest_memory_sum;
        sum = static_cast<std::uint64_t>(raised(static_cast<std::int64_t>(*sum), r));
      },
      [](SandboxInputs&, SizingRequest& request, Random& r) {
        request.vcpus += static_cast<std::uint32_t>(r.below(1000));
      }};
  Random random(3);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto inputs = random_inputs(random);
    inputs.bundle->type = BundleType::sandbox;
    inputs.containers = {container(1, random_resources(random))};
    inputs.containers[0].resources.memory_limit =
        1 + static_cast<std::int64_t>(random.number() >> 2);
    inputs.containers[0].resources.cpu_quota = 1 + static_cast<std::int64_t>(random.number() >> 2);
    inputs.registration = Registration();
    inputs.registration->memory_overhead = 1 + (random.number() >> 2);
    SizingRequest request;
    request.history.container_started = true;
    request.history.largest_memory_sum = random.number() >> 2;
    request.vcpus = static_cast<std::uint32_t>(random.below(200));
    const auto before = size(kDefaults, inputs, request);
    raises.at(random.below(raises.size()))(inputs, request, random);
    const auto after = size(kDefaults, inputs, request);
    EXPECT_GE(after.memory_max.value_or(kUnlimited), before.memory_max.value_or(kUnlimited));
    const auto value = [](const Sizing& sizing, const char* key) {
      for (const auto& file : sizing.vcpu)
        if (file.key == key) return file_value(file);
      return kUnlimited;
    };
    EXPECT_GE(value(after, "cpu.max"), value(before, "cpu.max"));
    const auto no_weight = value(before, "cpu.weight") == kUnlimited;  // no vCPU was known
    EXPECT_TRUE(no_weight || value(after, "cpu.weight") >= value(before, "cpu.weight"));
  }
}

/// Containers come, change and go; history is kept as the fold keeps it.
TEST(SizingProperty, MemoryNeverShrinksWhileTheVmLives) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  Random random(4);
  for (int life = 0; life < kRounds / 20 && !HasFailure(); ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    auto inputs = random_inputs(random);
    inputs.bundle->type = BundleType::sandbox;
    inputs.bundle->overhead_annotation = "350";
    inputs.registration.reset();
    SizingRequest request;
    std::uint64_t largest = 0;
    for (int moment = 0; moment < 20; ++moment) {
      inputs.containers.clear();
      for (int i = static_cast<int>(random.below(4)); i > 0; --i)
        inputs.containers.push_back(container(i, random_resources(random)));
      for (auto& bundle : inputs.containers)
        if (!random.chance(4)) bundle.resources.memory_limit = 1 + random.signed_number() / 4;
      const auto sizing = size(kDefaults, inputs, request);
      if (sizing.memory_max) {
        EXPECT_GE(*sizing.memory_max, largest) << "moment " << moment;
        largest = *sizing.memory_max;
      }
      if (sizing.memory_sum)
        request.history.largest_memory_sum =
            std::max(request.history.largest_memory_sum.value_or(0), *sizing.memory_sum);
    }
  }
}

TEST(SizingProperty, CurvesAreMonotoneAndWithinTheKernelsRange) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
  Random random(5);
  for (const auto curve : {&weight_of_shares, &weight_of_shares_old}) {
    for (int round = 0; round < kRounds; ++round) {
      const auto a = random.number();
      const auto b = std::max(a, random.number());
      EXPECT_LE(curve(a), curve(b)) << a << " " << b;
      EXPECT_GE(curve(a), 1U);
      EXPECT_LE(curve(a), 10'000U);
    }
    for (std::uint64_t shares = 0; shares < 300'000; shares += 7)
      ASSERT_LE(curve(shares), curve(shares + 7)) << shares;
  }
}

}  // namespace
}  // namespace kcg
