// SPDX-License-Identifier: Apache-2.0
#include "oci/bundle_json.hpp"

#include <gtest/gtest.h>

#include "unit/oci/test_data.hpp"

namespace kcg {
namespace {

using Root = BundleOrigin::Root;

constexpr const char* kSandbox = "0cb619b857a88e4c469a22c6afae6a66aa6de0f21c035216d81a5a85dc857cce";
constexpr const char* kContainer =
    "b0a8b7bd13e4c7c20dec12cc359492131807bf49e35388841b5ea722822ec6a5";

BundleOrigin at(Root root, const std::string& id, const std::string& ns = "k8s.io") {
  return {root, ns, id, "/run/bundles/" + id};
}

TEST(Bundle, ContainerdSandbox) {
  const auto bundle =
      parse_bundle(test_data("bundles/containerd-sandbox.json"), at(Root::containerd, kSandbox));
  ASSERT_TRUE(bundle) << bundle.error().text;
  Bundle wanted;
  wanted.id = kSandbox;
  wanted.directory = std::string("/run/bundles/") + kSandbox;
  wanted.engine = Engine::containerd;
  wanted.ns = "k8s.io";
  wanted.type = BundleType::sandbox;
  wanted.sandbox_id = kSandbox;
  wanted.pod = {"demo", "web-0", "6f9c7c8e-0b5e-4a7e-9d2b-0f6f1f7f8a11"};
  wanted.handler = "kata";
  wanted.cgroups_path =
      std::string("kubepods-burstable-pod6f9c7c8e.slice:cri-containerd:") + kSandbox;
  wanted.resources.cpu_shares = 2;
  wanted.overhead_annotation = "350";
  wanted.layout_annotation = "true";
  wanted.total_memory = 805306368;
  wanted.total_cpu_quota = 150000;
  wanted.total_cpu_period = 100000;
  wanted.total_cpu_shares = 1536;
  EXPECT_EQ(*bundle, wanted);
}

TEST(Bundle, ContainerdContainer) {
  const auto bundle = parse_bundle(test_data("bundles/containerd-container.json"),
                                   at(Root::containerd, kContainer));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->type, BundleType::container);
  EXPECT_EQ(bundle->id, kContainer);
  EXPECT_EQ(bundle->sandbox_id, kSandbox);
  EXPECT_EQ(bundle->container_name, "app");
  Resources wanted;
  wanted.memory_limit = 536870912;
  wanted.cpu_quota = 100000;
  wanted.cpu_period = 100000;
  wanted.cpu_shares = 1024;
  wanted.cpus = "0-1";
  wanted.mems = "0";
  wanted.hugepages = {{"1GB", 0}, {"2MB", 4194304}};
  EXPECT_EQ(bundle->resources, wanted);
  EXPECT_EQ(bundle->overhead_annotation, std::nullopt);
}

TEST(Bundle, CrioIgnoresForgedContainerdKeys) {
  for (const auto root : {Root::crio, Root::any}) {
    const auto bundle = parse_bundle(test_data("bundles/crio-sandbox.json"), at(root, "5e1f", ""));
    ASSERT_TRUE(bundle) << bundle.error().text;
    EXPECT_EQ(bundle->engine, Engine::crio);
    EXPECT_EQ(bundle->type, BundleType::sandbox);
    EXPECT_EQ(bundle->sandbox_id, "5e1f");
    EXPECT_EQ(bundle->pod, (PodName{"prod", "db-0", "77aa"}));
    EXPECT_EQ(bundle->container_name, "POD");
    EXPECT_EQ(bundle->handler, "kata-qemu");
    EXPECT_EQ(bundle->total_memory, std::nullopt);
  }
}

Bundle crio(const std::string& annotations) {
  const auto json = R"({"linux": {}, "annotations": {
    "io.kubernetes.cri-o.ContainerType": "sandbox", "io.kubernetes.cri-o.SandboxID": "S",)" +
                    annotations + "}}";
  auto bundle = parse_bundle(json, {BundleOrigin::Root::crio, "", "S", "/run/S"});
  EXPECT_TRUE(bundle) << bundle.error().text;
  return bundle.value_or(Bundle{});
}

TEST(Bundle, CrioSaysWhatTheKubeletToldItOfThePod) {
  const std::string resources =
      R"("{\"cpu_period\":100000,\"cpu_quota\":150000,\"cpu_shares\":1536,\"memory_limit_in_bytes\":805306368}")";
  const std::string own =
      R"("{\"cpu_period\":100000,\"cpu_quota\":25000,\"cpu_shares\":256,\"memory_limit_in_bytes\":167772160}")";
  for (const auto& [first, second] :
       {std::pair{"io.kubernetes.cri-o.PodLinuxResources", "io.kubernetes.cri-o.PodLinuxOverhead"},
        std::pair{"pod-linux-resources.crio.io", "pod-linux-overhead.crio.io"}}) {
    const auto bundle = crio(fmt::format("\"{}\": {}, \"{}\": {}", first, resources, second, own));
    EXPECT_EQ(bundle.total_memory, 805306368U);
    EXPECT_EQ(bundle.total_cpu_quota, 150000);
    EXPECT_EQ(bundle.total_cpu_period, 100000U);
    EXPECT_EQ(bundle.total_cpu_shares, 1536U);
    EXPECT_EQ(bundle.pod_overhead_memory, 167772160U);
    EXPECT_EQ(bundle.pod_overhead_cpu_milli, 250U);
  }
}

TEST(Bundle, WhatCrioSaysInVainSaysNothing) {
  for (const auto* text :
       {"null", "{}", "[]", "7", "wrong", "{", R"({\"memory_limit_in_bytes\":0})",
        R"({\"memory_limit_in_bytes\":-1,\"cpu_quota\":-1})",
        R"({\"memory_limit_in_bytes\":\"1\"})", R"({\"cpu_period\":-1})",
        R"({\"cpu_quota\":9223372036854775807})", R"({\"cpu_quota\":1000,\"cpu_period\":0})"}) {
    const auto bundle = crio(fmt::format(R"("io.kubernetes.cri-o.PodLinuxOverhead": "{}")", text));
    EXPECT_EQ(bundle.pod_overhead_memory, std::nullopt) << text;
    EXPECT_EQ(bundle.pod_overhead_cpu_milli, std::nullopt) << text;
  }
}

TEST(Bundle, ContainerdReadsOnlyItsOwnKeys) {
  const auto bundle = parse_bundle(R"({"annotations":{"io.kubernetes.cri-o.ContainerType":"sandbox",
                       "io.kubernetes.cri-o.SandboxID":"x"},"linux":{}})",
                                   at(Root::containerd, "x"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->engine, Engine::none);
  EXPECT_EQ(bundle->type, BundleType::single);
}

TEST(Bundle, Docker) {
  const auto bundle =
      parse_bundle(test_data("bundles/docker.json"), at(Root::containerd, "c0ffee", "moby"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->engine, Engine::none);
  EXPECT_EQ(bundle->type, BundleType::single);
  EXPECT_EQ(bundle->sandbox_id, "c0ffee");
  EXPECT_EQ(bundle->ns, "moby");
  EXPECT_EQ(bundle->cgroups_path, "/docker/c0ffee");
  EXPECT_EQ(bundle->resources.memory_limit, 1073741824);
}

TEST(Bundle, PodmanBesideCrioIsPodLess) {
  const auto bundle =
      parse_bundle(R"({"annotations":{"io.kubernetes.cri-o.ContainerType":"container"},
                       "linux":{}})",
                   at(Root::crio, "p"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->engine, Engine::none);
  EXPECT_EQ(bundle->type, BundleType::single);
}

TEST(Bundle, AnyDirectoryMayBePlanned) {
  const auto text = test_data("bundles/containerd-sandbox.json");
  const auto bundle = parse_bundle(text, at(Root::any, "my-bundle"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->id, kSandbox);
  EXPECT_EQ(bundle->sandbox_id, kSandbox);
  EXPECT_EQ(bundle->engine, Engine::containerd);
}

TEST(Bundle, AbsentAndSpecialValues) {
  const auto bundle = parse_bundle(
      R"({"annotations":null,"linux":{"cgroupsPath":null,"resources":{"memory":{"limit":-1},
          "cpu":{"quota":-1,"period":0},"hugepageLimits":null}}})",
      at(Root::containerd, "a"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->cgroups_path, "");
  EXPECT_EQ(bundle->resources.memory_limit, -1);
  EXPECT_EQ(bundle->resources.cpu_quota, -1);
  EXPECT_EQ(bundle->resources.cpu_period, std::nullopt) << "0 is 'not given'";
  EXPECT_EQ(parse_bundle(R"({"linux":{}})", at(Root::containerd, "a"))->resources, Resources{});
}

TEST(Bundle, TotalsOfZeroAreUnknown) {
  const auto bundle = parse_bundle(
      R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox",
          "io.kubernetes.cri.sandbox-id":"a","io.kubernetes.cri.sandbox-memory":"0",
          "io.kubernetes.cri.sandbox-cpu-quota":"-1","io.kubernetes.cri.sandbox-cpu-period":"0",
          "io.kubernetes.cri.sandbox-cpu-shares":"0"},"linux":{}})",
      at(Root::containerd, "a"));
  ASSERT_TRUE(bundle) << bundle.error().text;
  EXPECT_EQ(bundle->total_memory, std::nullopt);
  EXPECT_EQ(bundle->total_cpu_quota, -1);
  EXPECT_EQ(bundle->total_cpu_period, std::nullopt);
  EXPECT_EQ(bundle->total_cpu_shares, std::nullopt);
}

/// A sandbox bundle of containerd with one more annotation and one more member of linux.
std::string sandbox_with(const std::string& annotation, const std::string& in_linux = "") {
  return R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox",)" + annotation +
         R"("io.kubernetes.cri.sandbox-id":"a"},"linux":{)" + in_linux + "}}";
}

TEST(Bundle, RefusesAndNamesDirectoryKeyAndValue) {
  const struct {
    const char* name;
    std::string json;
    const char *key, *value;
  } rows[] = {
      {"not JSON", "{", "not JSON", ""},
      {"not an object", "[]", "top level", "[]"},
      {"no linux", R"({"annotations":{}})", "linux", "missing"},
      {"linux is null", R"({"linux":null})", "linux", "missing"},
      {"linux is text", R"({"linux":"x"})", "linux", "x"},
      {"annotations are a list", R"({"annotations":[],"linux":{}})", "annotations", "[]"},
      {"cgroupsPath is a number", sandbox_with("", R"("cgroupsPath":1)"), "linux.cgroupsPath", "1"},
      {"unknown type",
       R"({"annotations":{"io.kubernetes.cri.container-type":"pod",
           "io.kubernetes.cri.sandbox-id":"a"},"linux":{}})",
       "annotations.io.kubernetes.cri.container-type", "pod"},
      {"sandbox id without a type",
       R"({"annotations":{"io.kubernetes.cri.sandbox-id":"a"},"linux":{}})",
       "annotations.io.kubernetes.cri.container-type", ""},
      {"a sandbox in another's directory",
       R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox",
           "io.kubernetes.cri.sandbox-id":"other"},"linux":{}})",
       "annotations.io.kubernetes.cri.sandbox-id", "other"},
      {"a container's sandbox is no id",
       R"({"annotations":{"io.kubernetes.cri.container-type":"container",
           "io.kubernetes.cri.sandbox-id":"../x"},"linux":{}})",
       "sandbox id", "../x"},
      {"a container without a sandbox",
       R"({"annotations":{"io.kubernetes.cri.container-type":"container"},"linux":{}})",
       "sandbox id", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto bundle = parse_bundle(row.json, at(Root::containerd, "a"));
    ASSERT_FALSE(bundle);
    const auto& text = bundle.error().text;
    EXPECT_EQ(text.find("/run/bundles/a/config.json: "), 0U) << text;
    EXPECT_NE(text.find(row.key), std::string::npos) << text;
    EXPECT_NE(text.find(row.value), std::string::npos) << text;
  }
}

/// What is nonsense in one part takes nothing else away.
TEST(Bundle, MalformedPartsAreSaidAndCountAsNotGiven) {
  using enum ConditionName;
  const struct {
    const char* name;
    std::string json;
    ConditionName condition;
    const char *key, *value;
  } rows[] = {
      {"resources are a list", sandbox_with("", R"("resources":[])"), bundle_unreadable,
       "linux.resources", "[]"},
      {"limit is a fraction", sandbox_with("", R"("resources":{"memory":{"limit":1.9}})"),
       bundle_unreadable, "linux.resources.memory.limit", "1.9"},
      {"limit is true", sandbox_with("", R"("resources":{"memory":{"limit":true}})"),
       bundle_unreadable, "linux.resources.memory.limit", "true"},
      {"shares are negative", sandbox_with("", R"("resources":{"cpu":{"shares":-1}})"),
       bundle_unreadable, "linux.resources.cpu.shares", "-1"},
      {"cpus are a number", sandbox_with("", R"("resources":{"cpu":{"cpus":0}})"),
       bundle_unreadable, "linux.resources.cpu.cpus", "0"},
      {"huge page limit is negative",
       sandbox_with("", R"("resources":{"hugepageLimits":[{"pageSize":"2MB","limit":-5}]})"),
       bundle_unreadable, "linux.resources.hugepageLimits[0].limit", "-5"},
      {"total with a unit", sandbox_with(R"("io.kubernetes.cri.sandbox-memory":"1Gi",)"),
       invalid_annotation, "annotations.io.kubernetes.cri.sandbox-memory", "1Gi"},
      {"negative total", sandbox_with(R"("io.kubernetes.cri.sandbox-memory":"-1",)"),
       invalid_annotation, "annotations.io.kubernetes.cri.sandbox-memory", "-1"},
      {"a total that is a number", sandbox_with(R"("io.kubernetes.cri.sandbox-memory":1,)"),
       invalid_annotation, "annotations.io.kubernetes.cri.sandbox-memory", "1"},
      {"an overhead that is a number",
       sandbox_with(R"("io.katacontainers.config.hypervisor.memory_overhead":350,)"),
       invalid_annotation, "memory_overhead", "350"},
      {"an overhead with NUL",
       sandbox_with(R"("io.katacontainers.config.hypervisor.memory_overhead":"35\u0000",)"),
       invalid_annotation, "memory_overhead", "35"},
      {"a pod's name that is a list", sandbox_with(R"("io.kubernetes.cri.sandbox-name":[],)"),
       invalid_annotation, "sandbox-name", "[]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto bundle = parse_bundle(row.json, at(Root::containerd, "a"));
    ASSERT_TRUE(bundle) << bundle.error().text;
    EXPECT_EQ(bundle->sandbox_id, "a");
    EXPECT_EQ(bundle->resources, Resources{});
    EXPECT_EQ(bundle->overhead_annotation, std::nullopt);
    EXPECT_EQ(bundle->total_memory, std::nullopt);
    ASSERT_EQ(bundle->complaints.size(), 1U);
    EXPECT_EQ(bundle->complaints[0].condition, row.condition);
    const auto& text = bundle->complaints[0].text;
    EXPECT_EQ(text.find("/run/bundles/a/config.json: "), 0U) << text;
    EXPECT_NE(text.find(row.key), std::string::npos) << text;
    EXPECT_NE(text.find(row.value), std::string::npos) << text;
  }
}

TEST(Bundle, AnnotationsOfOthersAreNotLookedAt) {
  for (const auto* other : {R"("k":7,)", R"("k":"a\u0000b",)", R"("k":null,)", R"("k":[{}],)",
                            R"("":"7",)", R"("io.kubernetes.cri.sandbox-memoryx":"nonsense",)"}) {
    const auto bundle = parse_bundle(sandbox_with(other), at(Root::containerd, "a"));
    ASSERT_TRUE(bundle) << other;
    EXPECT_TRUE(bundle->complaints.empty()) << other;
    const auto on_crio = crio(std::string(other) + R"("x":"y")");
    EXPECT_TRUE(on_crio.complaints.empty()) << other;
  }
}

TEST(Bundle, AnUnreadableContainerStillNamesItsSandbox) {
  const std::string container = R"({"process":{"env":["a"]},"annotations":{
      "io.kubernetes.cri.container-type":"container","io.kubernetes.cri.sandbox-id":"S"})";
  const struct {
    const char* name;
    std::string json;
    std::optional<std::string> sandbox;
  } rows[] = {
      {"whole", container + R"(,"linux":{}})", "S"},
      {"cut off", container + R"(,"linux":{"cgroupsPa)", "S"},
      {"cut off within the annotations", container.substr(0, container.size() - 4), std::nullopt},
      {"nested absurdly", container + ",\"linux\":" + std::string(100'000, '['), "S"},
      {"a sandbox",
       R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox",
           "io.kubernetes.cri.sandbox-id":"S"},)",
       std::nullopt},
      {"annotations elsewhere", R"({"linux":)" + container + "}", std::nullopt},
      {"an id that is deeper than annotations are",
       R"({"annotations":{"io.kubernetes.cri.container-type":"container",
           "io.kubernetes.cri.sandbox-id":{"x":"S"}},)",
       std::nullopt},
      {"nothing", "", std::nullopt},
      {"no object", "[1,2", std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(claimed_sandbox(row.json, Root::containerd), row.sandbox);
  }
  EXPECT_EQ(claimed_sandbox(R"({"annotations":{"io.kubernetes.cri-o.ContainerType":"container",
                                "io.kubernetes.cri-o.SandboxID":"T"},)",
                            Root::crio),
            "T");
}

TEST(Bundle, RefusesDirectoriesThatAreNoIds) {
  const char* container = R"({"annotations":{"io.kubernetes.cri.container-type":"container",
                                "io.kubernetes.cri.sandbox-id":"a"},"linux":{}})";
  for (const char* id : {"", ".", "..", "-a", "a b", "a/b"}) {
    EXPECT_FALSE(parse_bundle(R"({"linux":{}})", at(Root::containerd, id))) << id;
    EXPECT_FALSE(parse_bundle(container, at(Root::containerd, id))) << id;
  }
  EXPECT_TRUE(parse_bundle(container, at(Root::containerd, "b")));
}

}  // namespace
}  // namespace kcg
