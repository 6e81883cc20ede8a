// SPDX-License-Identifier: Apache-2.0
#include "nri/pod_book.hpp"

#include <utility>

namespace kcg::nri {

namespace {

/// Of an update 0 and "" are "as before".
void merge(Resources& known, const Resources& said) {
  const auto take = [](auto& into, const auto& from) {
    if (from.value_or(0) != 0) into = from;
  };
  take(known.memory_limit, said.memory_limit);
  take(known.cpu_quota, said.cpu_quota);
  take(known.cpu_period, said.cpu_period);
  take(known.cpu_shares, said.cpu_shares);
  if (!said.cpus.empty()) known.cpus = said.cpus;
  if (!said.mems.empty()) known.mems = said.mems;
  for (const auto& [size, bytes] : said.hugepages) known.hugepages[size] = bytes;
}

/// An update of a container of which nothing else was told says nothing of what it leaves out.
void add_container(NodeData& pod, const ContainerNews& news) {
  const auto known = pod.containers.find(news.id);
  if (known != pod.containers.end() && news.partial)
    merge(known->second, news.resources);
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
