// SPDX-License-Identifier: Apache-2.0
#include "plan/makers.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Makers, Names) {
  const struct {
    const char* path;
    Maker maker;
    const char* sandbox;
  } rows[] = {
      {"/", Maker::none, ""},
      {"/kubepods", Maker::kubelet, ""},
      {"/kubepods/burstable/podU", Maker::kubelet, ""},
      {"/kubepods/podU", Maker::kubelet, ""},
      {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU.slice", Maker::kubelet,
       ""},
      {"/a/kubepods/besteffort/podU", Maker::kubelet, ""},
      {"/kubepods/burstable/podU/c1", Maker::none, ""},
      {"/kubepods.slice/kubepods-podU.slice/other.scope", Maker::none, ""},

      {"/kubepods/burstable/podU/kata_s1", Maker::kata_cgroupfs, "s1"},
      {"/kubepods/burstable/podU/kata_crio-s1", Maker::kata_cgroupfs, "s1"},
      {"/kubepods.slice/kubepods-podU.slice/kata_cri-containerd-s1", Maker::kata_cgroupfs, "s1"},
      {"/docker/kata_s1", Maker::kata_cgroupfs, "s1"},
      {"/vc/default/kata_s1", Maker::kata_cgroupfs, "s1"},
      {"/vc/kata_", Maker::none, ""},
      {"/vc/kata_-x", Maker::none, ""},

      {"/k.slice/cri-containerd-s1.scope", Maker::engine_scope, "s1"},
      {"/k.slice/crio-s1.scope", Maker::engine_scope, "s1"},
      {"/system.slice/docker-s1.scope", Maker::engine_scope, "s1"},
      {"/k.slice/crio-conmon-s1.scope", Maker::none, ""},
      {"/k.slice/session-1.scope", Maker::none, ""},
      {"/plain/cri-containerd-s1.scope", Maker::none, ""},
      {"/k.slice/cri-containerd-.scope", Maker::none, ""},

      {"/kubepods-podU.slice:cri-containerd:s1", Maker::kata_literal, "s1"},
      {"/a/kubepods-podU.slice:cri-containerd:s1", Maker::none, ""},
      {"/kubepods-podU:cri-containerd:s1", Maker::none, ""},
      {"/kubepods-podU.slice:s1", Maker::none, ""},

      {"/kata_overhead", Maker::kata_overhead, ""},
      {"/kata_overhead/s1", Maker::kata_overhead, "s1"},
      {"/kata_overhead/s1/x", Maker::none, ""},
      {"/a/kata_overhead", Maker::kata_cgroupfs, "overhead"},
      {"/kata.slice/kata-overhead.slice", Maker::kata_overhead, ""},
      {"/kata.slice/kata-overhead.slice/runtime-rs-s1.scope", Maker::kata_overhead, "s1"},

      {"/kata_vc", Maker::kata_shared, ""},
      {"/default/kata_vc", Maker::kata_cgroupfs, "vc"},

      {"/kubepods/podU/kata-sandbox-s1", Maker::ours, "s1"},
      {"/kubepods/podU/kata-sandbox-s1/vcpu", Maker::ours, "s1"},
      {"/kubepods/podU/kata-sandbox-s1/other", Maker::none, ""},
      {"/k.slice/kata-sandbox-s1.scope", Maker::ours, "s1"},
      {"/k.slice/kata-sandbox-s1.scope/io", Maker::ours, "s1"},
      {"/k.slice/cri-containerd-s1.scope/kata-sandbox-s1", Maker::ours, "s1"},
      {"/kata", Maker::ours, ""},
      {"/kata/s1", Maker::ours, "s1"},
      {"/kata/s1/vmm", Maker::ours, "s1"},
      {"/kata/io", Maker::ours, "io"},
      {"/kata.slice", Maker::ours, ""},
      {"/kata.slice/kata-s1.scope", Maker::ours, "s1"},
      {"/kata.slice/kata-s1.scope/shim", Maker::ours, "s1"},
      {"/kata-sandbox-", Maker::none, ""},
      {"/vcpu", Maker::none, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path);
    const auto by = made_by(CgroupPath::parse(row.path).value());
    EXPECT_EQ(name(by.maker), name(row.maker));
    EXPECT_EQ(by.sandbox, row.sandbox);
  }
}

TEST(Makers, LegacyRootIsConfigurable) {
  const auto path = CgroupPath::parse("/own/legacy/s1").value();
  EXPECT_EQ(made_by(path), (MadeBy{Maker::none, ""}));
  EXPECT_EQ(made_by(path, "/own/legacy"), (MadeBy{Maker::ours, "s1"}));
  const auto shared = CgroupPath::parse("/kata_overhead/s1").value();
  EXPECT_EQ(made_by(shared, "/kata_overhead"), (MadeBy{Maker::kata_overhead, "s1"}));
}

}  // namespace
}  // namespace kcg
