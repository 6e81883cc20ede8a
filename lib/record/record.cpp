// SPDX-License-Identifier: Apache-2.0
#include "record/record.hpp"

namespace kcg {

Record one_look() {
  Record record;
  record.unrest.change([](Unrest& unrest) { unrest.vcpuless_since = Instant::min(); });
  record.vmm.ended = Instant::min();
  return record;
}

Standing standing_of(const Record& record) {
  Standing standing{record.state, std::nullopt, record.conditions, record.created};
  if (record.place) standing.place = record.place->whole();
  return standing;
}

bool charge_wanted(const Record& record, Instant now) {
  return record.charge.due && *record.charge.due <= now;
}

}  // namespace kcg
