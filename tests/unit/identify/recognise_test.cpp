// SPDX-License-Identifier: Apache-2.0
#include "identify/recognise.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

SandboxId id() { return SandboxId::parse("s1").value(); }

Bundle sandbox(std::string ns = "k8s.io") {
  Bundle b;
  b.id = b.sandbox_id = "s1";
  b.directory = "/run/" + ns + "/s1";
  b.engine = Engine::containerd;
  b.ns = std::move(ns);
  b.type = BundleType::sandbox;
  b.cgroups_path = "/kubepods/podU/s1";
  return b;
}

Bundle container(const std::string& name, std::string cgroups_path) {
  Bundle b = sandbox();
  b.id = name;
  b.directory = "/run/k8s.io/" + name;
  b.type = BundleType::container;
  b.cgroups_path = std::move(cgroups_path);
  return b;
}

std::vector<std::string> joined(const Assembled& out) {
  std::vector<std::string> ids;
  for (const auto& bundle : out.inputs.containers) ids.push_back(bundle.id);
  return ids;
}

using List = std::vector<std::string>;

TEST(Recognise, ContainersJoinSortedById) {
  const auto out = assemble(id(), {container("c2", "/kubepods/podU/c2"), sandbox(),
                                   container("c1", "/kubepods/podU/./c1")});
  ASSERT_TRUE(out.inputs.bundle);
  EXPECT_EQ(*out.inputs.bundle, sandbox());
  EXPECT_EQ(out.inputs.id, id());
  EXPECT_EQ(joined(out), (List{"c1", "c2"}));
  EXPECT_TRUE(out.conditions.empty());
  EXPECT_TRUE(out.ignored.empty());
}

TEST(Recognise, SystemdFormJoinsBySlice) {
  auto own = sandbox();
  own.cgroups_path = "kubepods-podU.slice:cri-containerd:s1";
  const auto good = container("c1", "kubepods-podU.slice:cri-containerd:c1");
  const auto bad = container("c2", "kubepods-podV.slice:cri-containerd:c2");
  EXPECT_EQ(joined(assemble(id(), {own, good, bad})), List{"c1"});
}

TEST(Recognise, ForeignContainersAreRefusedWithTheReason) {
  auto other_engine = container("c1", "/kubepods/podU/c1");
  other_engine.engine = Engine::crio;
  auto other_ns = container("c1", "/kubepods/podU/c1");
  other_ns.ns = "moby";
  const struct {
    const char* name;
    Bundle bundle;
    const char* reason;
  } rows[] = {
      {"another pod", container("c1", "/kubepods/podV/c1"), "its pod cgroup is /kubepods/podV"},
      {"below the pod", container("c1", "/kubepods/podU/x/c1"), "/kubepods/podU/x"},
      {"a longer name", container("c1", "/kubepods/podU2/c1"), "/kubepods/podU2"},
      {"the parent", container("c1", "/kubepods/c1"), "its pod cgroup is /kubepods"},
      {"no usable path", container("c1", "a--b.slice:p:c1"), "cannot be used"},
      {"another engine", other_engine, "it comes from cri-o"},
      {"another namespace", other_ns, "namespace moby"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto out = assemble(id(), {sandbox(), row.bundle});
    EXPECT_TRUE(out.inputs.containers.empty());
    ASSERT_EQ(out.conditions.size(), 1U);
    EXPECT_EQ(out.conditions[0].condition, ConditionName::foreign_container);
    EXPECT_NE(out.conditions[0].text.find(row.reason), std::string::npos) << out.conditions[0].text;
    ASSERT_EQ(out.ignored.size(), 1U);
    EXPECT_EQ(out.ignored[0].why, out.conditions[0].text);
  }
}

TEST(Recognise, AContainerOfAnotherSandboxIsNoneOfOurs) {
  auto other = container("c1", "/kubepods/podU/c1");
  other.sandbox_id = "s10";
  const auto out = assemble(id(), {sandbox(), other});
  EXPECT_TRUE(out.inputs.containers.empty());
  EXPECT_TRUE(out.conditions.empty());
}

TEST(Recognise, WithoutASandboxBundleNothingJoins) {
  const auto out = assemble(id(), {container("c1", "/kubepods/podU/c1")});
  EXPECT_FALSE(out.inputs.bundle);
  EXPECT_TRUE(out.inputs.containers.empty());
  EXPECT_TRUE(out.conditions.empty());
  EXPECT_EQ(out.ignored.size(), 1U);
}

TEST(Recognise, SameIdInTwoNamespaces) {
  auto theirs = container("c9", "/kubepods/podU/c9");
  theirs.ns = "default";
  const std::vector<Bundle> all = {sandbox("k8s.io"), sandbox("default"), theirs,
                                   container("c1", "/kubepods/podU/c1")};
  const auto first = assemble(id(), all);
  EXPECT_EQ(first.inputs.bundle->ns, "default") << "first by directory";
  EXPECT_EQ(joined(first), List{"c9"});
  EXPECT_EQ(first.ignored.size(), 2U);
  EXPECT_TRUE(first.conditions.empty()) << "the other sandbox's container is not foreign";

  const auto preferred = assemble(id(), all, "k8s.io");
  EXPECT_EQ(preferred.inputs.bundle->ns, "k8s.io");
  EXPECT_EQ(joined(preferred), List{"c1"});
  EXPECT_NE(preferred.ignored[0].why.find("/run/default/s1"), std::string::npos);

  EXPECT_EQ(assemble(id(), all, "nowhere").inputs.bundle->ns, "default");
}

TEST(Recognise, PodLessIsItsOwnSandbox) {
  auto single = sandbox("moby");
  single.engine = Engine::none;
  single.type = BundleType::single;
  const auto out = assemble(id(), {single, container("c1", "/kubepods/podU/c1")});
  EXPECT_EQ(out.inputs.bundle, single);
  EXPECT_TRUE(out.inputs.pod_less());
  EXPECT_EQ(out.conditions.size(), 1U);
}

TEST(Recognise, KataProof) {
  const auto with = [](auto change) {
    SandboxInputs in;
    in.id = id();
    in.bundle = sandbox();
    change(in);
    return in;
  };
  const struct {
    const char* name;
    SandboxInputs inputs;
    bool proven;
  } rows[] = {
      {"nothing", with([](SandboxInputs&) {}), false},
      {"a handler proves nothing", with([](SandboxInputs& in) { in.bundle->handler = "kata"; }),
       false},
      {"a pid file proves nothing", with([](SandboxInputs& in) { in.bundle->shim_pid = 7; }),
       false},
      {"Kata's state", with([](SandboxInputs& in) { in.kata = KataState(); }), true},
      {"the shim's path",
       with([](SandboxInputs& in) { in.bundle->shim_binary = "/opt/bin/containerd-shim-kata-v2"; }),
       true},
      {"runc's path",
       with([](SandboxInputs& in) { in.bundle->shim_binary = "/b/containerd-shim-runc-v2"; }),
       false},
      {"runc's path and old state of Kata", with([](SandboxInputs& in) {
         in.bundle->shim_binary = "/b/containerd-shim-runc-v2";
         in.kata = KataState();
       }),
       false},
      {"a renamed shim and state", with([](SandboxInputs& in) {
         in.bundle->shim_binary = "/opt/vendor/shim";
         in.kata = KataState();
       }),
       true},
      {"registration", with([](SandboxInputs& in) { in.registration = Registration(); }), true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(proves_kata(row.inputs), row.proven);
  }
}

TEST(Recognise, NamesOfShims) {
  const struct {
    const char* executable;
    bool kata, other;
  } rows[] = {
      {"/opt/kata/bin/containerd-shim-kata-v2", true, false},
      {"containerd-shim-kata-qemu-v2", true, false},
      {"/usr/bin/containerd-shim-runc-v2", false, true},
      {"/usr/bin/containerd-shim-runsc-v1", false, true},
      {"/usr/bin/containerd-shim", false, false},
      {"/x/containerd-shim-kata-v2/other", false, false},
      {"/x/my-containerd-shim-kata-v2", false, false},
      {"", false, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(names_kata_shim(row.executable), row.kata) << row.executable;
    EXPECT_EQ(names_other_shim(row.executable), row.other) << row.executable;
  }
}

}  // namespace
}  // namespace kcg
