// SPDX-License-Identifier: Apache-2.0
//
// The resource properties of one unit as systemd's manager keeps them, and what it writes into
// which file because of them. Source: org.freedesktop.systemd1(5), systemd.resource-control(5).
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kernel/unit_properties.hpp"
#include "model/host.hpp"
#include "model/plan.hpp"

namespace kcg::test {

/// Value: see the head of the file.
class FakeUnit final {
 public:
  /// All or none. EINVAL: systemd has no such property, or takes another type for it.
  [[nodiscard]] Status set(const std::vector<UnitProperty>& properties);
  /// The files of one hierarchy in the order of systemd's writes; of what was never set, none.
  [[nodiscard]] std::vector<WantedFile> files(const Hierarchy& hierarchy) const;

 private:
  [[nodiscard]] const std::uint64_t* number(const char* name) const;
  void add_number(std::vector<WantedFile>& to, const char* file, const char* property,
                  const char* unlimited) const;
  void add_mask(std::vector<WantedFile>& to, const char* file, const char* property) const;
  void add_quota(std::vector<WantedFile>& to, bool unified) const;

  std::map<std::string, decltype(UnitProperty::value)> values_;
};

}  // namespace kcg::test
