// SPDX-License-Identifier: Apache-2.0
#include "record/record.hpp"

namespace kcg {

Record one_look() {
  Record record;
  record.unrest.vcpuless_since = Instant::min();
  record.vmm.ended = Instant::min();
  return record;
}

Standing standing_of(const Record& record) {
  return {record.state, record.place, record.conditions, record.created};
}

bool charge_wanted(const Record& record, Instant now) {
  return record.charge.due && *record.charge.due <= now;
}

}  // namespace kcg
