// SPDX-License-Identifier: Apache-2.0
#include "oci/bundle_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "oci/json_view.hpp"
#include "oci/parse_json.hpp"
#include "oci/resources_json.hpp"

namespace kcg {

namespace {

/// Value: the annotation keys that one engine writes; "" = it has none for this.
struct EngineKeys {
  Engine engine;
  const char *type, *sandbox_id, *container_name;
  const char *pod_namespace, *pod_name, *pod_uid;
  const char* handler;
  const char *memory, *cpu_quota, *cpu_period, *cpu_shares;  ///< the engine's sums for the pod
};

constexpr EngineKeys kContainerd = {Engine::containerd,
                                    "io.kubernetes.cri.container-type",
                                    "io.kubernetes.cri.sandbox-id",
                                    "io.kubernetes.cri.container-name",
                                    "io.kubernetes.cri.sandbox-namespace",
                                    "io.kubernetes.cri.sandbox-name",
                                    "io.kubernetes.cri.sandbox-uid",
                                    "io.containerd.cri.runtime-handler",
                                    "io.kubernetes.cri.sandbox-memory",
                                    "io.kubernetes.cri.sandbox-cpu-quota",
                                    "io.kubernetes.cri.sandbox-cpu-period",
                                    "io.kubernetes.cri.sandbox-cpu-shares"};
constexpr EngineKeys kCrio = {Engine::crio,
                              "io.kubernetes.cri-o.ContainerType",
                              "io.kubernetes.cri-o.SandboxID",
                              "io.kubernetes.container.name",
                              "io.kubernetes.pod.namespace",
                              "io.kubernetes.pod.name",
                              "io.kubernetes.pod.uid",
                              "io.kubernetes.cri-o.RuntimeHandler",
                              "",
                              "",
                              "",
                              ""};
constexpr const char* kOverhead = "io.katacontainers.config.hypervisor.memory_overhead";
constexpr const char* kBoot = "io.katacontainers.config.hypervisor.default_memory";
constexpr const char* kLayout = "io.katacontainers.config.runtime.sandbox_cgroup_only";
constexpr const char* kPinning = "io.katacontainers.config.runtime.enable_vcpus_pinning";

/// The engine whose keys are read; nullptr: none of its keys, so no pod. CRI-O copies the
/// annotations of pods, so where the root does not decide, its own key does.
const EngineKeys* select_engine(BundleOrigin::Root root, const JsonView& annotations) {
  const auto claims = [&](const EngineKeys& keys) {
    return annotations.has(keys.type) || annotations.has(keys.sandbox_id);
  };
  const bool crio = root != BundleOrigin::Root::containerd && claims(kCrio);
  if (crio) return &kCrio;
  const bool containerd = root != BundleOrigin::Root::crio && claims(kContainerd);
  return containerd ? &kContainerd : nullptr;
}

/// Reads single annotations: what others hold is nobody's business here. A malformed one is
/// complained about and says nothing.
class Reader {
 public:
  Reader(JsonView annotations, Bundle& bundle)
      : annotations_(std::move(annotations)), bundle_(bundle) {}

  [[nodiscard]] std::optional<std::string> find(const char* key) const {
    if (*key == '\0') return std::nullopt;  // an engine that has none for this
    JsonProblem problem;
    auto value = annotations_.apart(problem).text(key);
    if (!problem.text.empty()) complain(problem.text);
    return value;
  }
  [[nodiscard]] std::string text(const char* key) const { return find(key).value_or(""); }
  /// One that decides what the bundle is: the whole bundle cannot be read without it.
  [[nodiscard]] std::string vital(const char* key) const {
    return annotations_.text(key).value_or("");
  }
  void refuse(const char* key, std::string_view value, std::string_view wanted) const {
    annotations_.problem(key, fmt::format("'{}', not {}", escaped(value), wanted));
  }

  /// Sums of an engine; 0 is how it says "not known".
  template <class Number>
  [[nodiscard]] std::optional<Number> number(
      const char* key, std::optional<Number> (*parse)(std::string_view)) const {
    const auto value = find(key);
    if (!value) return std::nullopt;
    const auto parsed = parse(*value);
    if (!parsed)
      complain(
          fmt::format("annotations.{}: '{}', not a whole number of 64 bits", key, escaped(*value)));
    return parsed == Number{0} ? std::nullopt : parsed;
  }

 private:
  void complain(const std::string& what) const {
    bundle_.complaints.push_back({ConditionName::invalid_annotation,
                                  fmt::format("{}/config.json: {}; it is taken as not given",
                                              escaped(bundle_.directory, 256), what)});
  }

  JsonView annotations_;
  Bundle& bundle_;
};

/// Limits that are nonsense are none: the container counts as unlimited, and this is said.
void read_limits(const JsonView& linux_section, Bundle& bundle) {
  JsonProblem problem;
  bundle.resources = read_resources(linux_section.apart(problem).object("resources"));
  if (problem.text.empty()) return;
  bundle.resources = {};
  bundle.complaints.push_back({ConditionName::bundle_unreadable,
                               fmt::format("{}/config.json: {}; the container counts as unlimited",
                                           escaped(bundle.directory, 256), problem.text)});
}

/// The CRI's resources as CRI-O writes them into an annotation. It is a text within a text that a
/// pod's author may have replaced: what does not parse says nothing.
Resources read_cri(const std::optional<std::string>& text) {
  const auto value = parse_json(text.value_or("null"));
  if (!value || !value->is_object()) return {};
  JsonProblem problem;
  const JsonView view(*value, problem);
  Resources resources;
  resources.memory_limit = view.i64("memory_limit_in_bytes");
  resources.cpu_quota = view.i64("cpu_quota");
  resources.cpu_period = view.u64("cpu_period");
  resources.cpu_shares = view.u64("cpu_shares");
  return problem.text.empty() ? resources : Resources{};
}

std::optional<std::uint64_t> known(std::optional<std::int64_t> amount) {
  if (amount.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*amount);
}

/// What the kubelet told CRI-O about the whole pod; the second name is that of newer versions.
void read_crio_sums(const Reader& read, Bundle& bundle) {
  const auto either = [&read](const char* name, const char* newer) {
    auto text = read.find(name);
    return read_cri(text ? text : read.find(newer));
  };
  const auto sums = either("io.kubernetes.cri-o.PodLinuxResources", "pod-linux-resources.crio.io");
  bundle.total_memory = known(sums.memory_limit);
  if (known(sums.cpu_quota)) bundle.total_cpu_quota = sums.cpu_quota;
  bundle.total_cpu_period = sums.cpu_period;
  bundle.total_cpu_shares = sums.cpu_shares;
  const auto own = either("io.kubernetes.cri-o.PodLinuxOverhead", "pod-linux-overhead.crio.io");
  bundle.pod_overhead_memory = known(own.memory_limit);
  const auto quota = known(own.cpu_quota);
  const auto period = own.cpu_period.value_or(100'000);
  constexpr std::uint64_t kSane = std::uint64_t{1} << 44;  // the kernel's own bound, microseconds
  if (quota && period > 0 && *quota < kSane) bundle.pod_overhead_cpu_milli = *quota * 1000 / period;
}

void read_pod(const Reader& read, const EngineKeys& keys, const BundleOrigin& origin,
              Bundle& bundle) {
  bundle.engine = keys.engine;
  bundle.sandbox_id = read.vital(keys.sandbox_id);
  bundle.container_name = read.text(keys.container_name);
  bundle.pod = {read.text(keys.pod_namespace), read.text(keys.pod_name), read.text(keys.pod_uid)};
  bundle.handler = read.text(keys.handler);
  bundle.total_memory = read.number<std::uint64_t>(keys.memory, parse_u64);
  bundle.total_cpu_quota = read.number<std::int64_t>(keys.cpu_quota, parse_i64);
  bundle.total_cpu_period = read.number<std::uint64_t>(keys.cpu_period, parse_u64);
  bundle.total_cpu_shares = read.number<std::uint64_t>(keys.cpu_shares, parse_u64);

  const auto type = read.vital(keys.type);
  if (type != "sandbox" && type != "container")
    read.refuse(keys.type, type, "'sandbox' or 'container'");
  bundle.type = type == "sandbox" ? BundleType::sandbox : BundleType::container;
  if (bundle.type != BundleType::sandbox) return;
  if (keys.engine == Engine::crio) read_crio_sums(read, bundle);
  if (origin.root == BundleOrigin::Root::any)
    bundle.id = bundle.sandbox_id;  // a bundle to be planned may lie in any directory
  else if (bundle.sandbox_id != origin.id)
    read.refuse(keys.sandbox_id, bundle.sandbox_id, "the name of the sandbox's own directory");
}

/// Podman shares CRI-O's storage and writes CRI-O's type key, alone.
bool podman(const EngineKeys* keys, const JsonView& annotations) {
  return keys == &kCrio && !annotations.has(kCrio.sandbox_id);
}

Bundle read_bundle(const JsonView& top, const BundleOrigin& origin) {
  const auto annotations = top.object("annotations");
  const auto linux_section = top.required("linux");
  Bundle bundle;
  const Reader read(annotations, bundle);
  bundle.id = origin.id;
  bundle.directory = origin.directory;
  bundle.ns = origin.ns;
  bundle.sandbox_id = origin.id;
  bundle.cgroups_path = linux_section.text("cgroupsPath").value_or("");
  read_limits(linux_section, bundle);
  bundle.overhead_annotation = read.find(kOverhead);
  bundle.boot_annotation = read.find(kBoot);
  bundle.layout_annotation = read.find(kLayout);
  bundle.pinning_annotation = read.find(kPinning);
  const auto* keys = select_engine(origin.root, annotations);
  if (keys != nullptr && !podman(keys, annotations)) read_pod(read, *keys, origin, bundle);
  return bundle;
}

}  // namespace

Result<Bundle> parse_bundle(std::string_view json, const BundleOrigin& origin) {
  const auto where = origin.directory + "/config.json";
  const auto value = parse_json(json, {"annotations", "linux.cgroupsPath", "linux.resources"});
  if (!value) return forward(value.error(), where);
  JsonProblem problem;
  auto bundle = read_bundle(JsonView(*value, problem), origin);
  if (!problem.text.empty()) return fail(0, "{}: {}", where, problem.text);
  for (const auto& id : {bundle.id, bundle.sandbox_id})
    if (auto valid = SandboxId::parse(id); !valid) return forward(valid.error(), where);
  return bundle;
}

}  // namespace kcg
