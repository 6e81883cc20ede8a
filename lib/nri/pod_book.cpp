// SPDX-License-Identifier: Apache-2.0
#include "nri/pod_book.hpp"

#include <algorithm>
#include <utility>

namespace kcg::nri {

namespace {

/// Whether the second of two limits allows more; 0, less and nothing said allow all.
bool more(const std::optional<std::int64_t>& known, std::int64_t said) {
  return known.value_or(0) > 0 && (said < 0 || said > *known);
}

/// Likewise of CPU time, whose period counts, too.
bool more_time(const Resources& known, const Resources& said) {
  const auto rate = [](const Resources& of, std::uint64_t period) {
    return static_cast<long double>(of.cpu_quota.value_or(0)) / static_cast<long double>(period);
  };
  constexpr std::uint64_t kPeriod = 100'000;
  const auto before = known.cpu_period.value_or(0) > 0 ? *known.cpu_period : kPeriod;
  const auto after = said.cpu_period.value_or(0) > 0 ? *said.cpu_period : before;
  const auto quota = said.cpu_quota.value_or(0);
  return known.cpu_quota.value_or(0) > 0 &&
         (quota < 0 || (quota > 0 && rate(said, after) > rate(known, before)));
}

/// What an update asks for, of which 0 and "" are "as before". The engine may fail to grant it:
/// what it lowers counts when the engine has told of it as done.
void raise(Resources& known, const Resources& said) {
  if (said.memory_limit.value_or(0) != 0 && more(known.memory_limit, *said.memory_limit))
    known.memory_limit = said.memory_limit;
  if (more_time(known, said)) {
    known.cpu_quota = said.cpu_quota;
    if (said.cpu_period.value_or(0) > 0) known.cpu_period = said.cpu_period;
  }
  if (known.cpu_shares.value_or(0) > 0 && said.cpu_shares.value_or(0) > *known.cpu_shares)
    known.cpu_shares = said.cpu_shares;
  constexpr std::size_t kMostText = 4096;  // of an engine that never says that it is done
  if (!known.cpus.empty() && !said.cpus.empty() && known.cpus.size() < kMostText)
    known.cpus += "," + said.cpus;
  for (const auto& [size, bytes] : said.hugepages)
    known.hugepages[size] = std::max(known.hugepages[size], bytes);
}

/// An update of a container of which nothing else was told says nothing of what it leaves out.
void add_container(NodeData& pod, const ContainerNews& news) {
  const auto known = pod.containers.find(news.id);
  if (known != pod.containers.end() && news.partial)
    raise(known->second, news.resources);
  else if (known != pod.containers.end())
    known->second = news.resources;
  else if (!news.partial && pod.containers.size() < PodBook::kMostContainers)
    pod.containers.emplace(news.id, news.resources);
}

/// Pods whose data are others in one of the two.
std::set<SandboxId> differences(const std::map<SandboxId, NodeData>& before,
                                const std::map<SandboxId, NodeData>& after) {
  std::set<SandboxId> found;
  for (const auto& [id, data] : before)
    if (const auto it = after.find(id); it == after.end() || !(it->second == data))
      found.insert(id);
  for (const auto& [id, data] : after)
    if (!before.contains(id)) found.insert(id);
  return found;
}

}  // namespace

void PodBook::note_pod(Pods& pods, const PodNews& news, std::set<SandboxId>& touched) {
  const auto id = SandboxId::parse(news.id);
  const auto known = id ? pods.find(*id) : pods.end();
  if (!id || (known == pods.end() && pods.size() >= kMostPods)) return;
  if (known != pods.end() && news.in_passing) return;
  touched.insert(*id);
  auto& data = pods[*id];
  auto containers = std::move(data.containers);
  data = news.data;
  data.containers = std::move(containers);
}

std::set<SandboxId> PodBook::note(Pods& pods, const News& news) {
  std::set<SandboxId> touched;
  for (const auto& one : news.pods) note_pod(pods, one, touched);
  const auto pod_of = [&](const ContainerNews& one) {
    const auto id = SandboxId::parse(one.pod);
    const auto known = id ? pods.find(*id) : pods.end();
    if (known != pods.end()) touched.insert(*id);
    return known;
  };
  for (const auto& one : news.containers)
    if (const auto pod = pod_of(one); pod != pods.end()) add_container(pod->second, one);
  for (const auto& one : news.containers_gone)
    if (const auto pod = pod_of(one); pod != pods.end()) pod->second.containers.erase(one.id);
  for (const auto& gone : news.pods_gone)
    if (const auto id = SandboxId::parse(gone); id && pods.erase(*id) > 0) touched.insert(*id);
  return touched;
}

std::set<SandboxId> PodBook::take(const News& news) {
  if (!news.runtime.empty()) listed_.clear();  // another connection: its parts are its own
  if (news.whole == News::Whole::no) return note(pods_, news);
  (void)note(listed_, news);  // ignored: what is new is known when all of it has come
  if (news.whole == News::Whole::part) return {};
  const auto before = std::exchange(pods_, std::exchange(listed_, {}));
  return differences(before, pods_);
}

const NodeData* PodBook::find(const SandboxId& id) const {
  const auto it = pods_.find(id);
  return it == pods_.end() ? nullptr : &it->second;
}

}  // namespace kcg::nri
