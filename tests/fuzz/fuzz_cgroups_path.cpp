// SPDX-License-Identifier: Apache-2.0
#include "oci/cgroups_path.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto text = text_of(data, size);
  if (const auto slice = expand_slice(text); !slice)
    require_good_text(slice.error());
  else
    require(CgroupPath::parse(slice->str()) == *slice, "a slice's directory is a path");

  const auto path = parse_cgroups_path(text);
  if (!path) {
    require_good_text(path.error());
    return 0;
  }
  require(CgroupPath::parse(path->full.str()) == path->full, "clean, and below the root");
  require(CgroupPath::parse(path->pod.str()) == path->pod, "clean, and below the root");
  require(path->full.within(path->pod), "the container is in its pod");
  require((path->driver == Driver::systemd) == !path->slice.empty(), "only systemd has slices");
  if (path->driver == Driver::systemd)
    require(path->full.parent() == path->pod, "a scope stands in its slice");
  else
    require(path->full.name() == path->name, "the last component is the name");
  // The clean path is its own meaning, unless it looks like systemd's form.
  if (const auto again = parse_cgroups_path(path->full.str()); again)
    require(again->full == path->full, "cleaning twice is cleaning once");
  return 0;
}
