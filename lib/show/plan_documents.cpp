// SPDX-License-Identifier: Apache-2.0
#include "show/plan_documents.hpp"

#include <algorithm>
#include <utility>

#include "show/documents_json.hpp"

namespace kcg {

namespace {

using json_parts::Json;
using json_parts::put_known;

/// Value: all groups of one path; v1 has one directory of it in each of several hierarchies.
struct PathGroup {
  const WantedGroup* first;
  std::vector<std::string> hierarchies;
  std::map<std::string, std::string> limits;
};

std::vector<PathGroup> by_path(const std::vector<WantedGroup>& groups) {
  std::vector<PathGroup> merged;
  for (const auto& group : groups) {
    if (group.shared) continue;  // a parent of many sandboxes' groups is nobody's
    auto it = std::find_if(merged.begin(), merged.end(), [&](const PathGroup& one) {
      return one.first->ref.path == group.ref.path;
    });
    if (it == merged.end()) it = merged.insert(it, PathGroup{&group, {}, {}});
    it->hierarchies.push_back(group.ref.hierarchy);
    for (const auto& limit : group.limits) it->limits[limit.key] = limit.value;
  }
  return merged;
}

Json group_json(const PathGroup& group) {
  Json object;
  object["role"] = name(group.first->role);
  object["path"] = json_parts::text(group.first->ref.path.str());
  object["hierarchies"] = json_parts::texts(group.hierarchies);
  object["type"] = name(group.first->type);
  object["limits"] = json_parts::text_map(group.limits);
  return object;
}

void put_task(Json& object, const Step& step) {
  if (const auto* thread = as<op::MoveThread>(step)) {
    object["pid"] = thread->process;
    object["tid"] = thread->task.pid;
  } else if (const auto task = text_of(step).task) {
    object["pid"] = task->pid;
  }
  if (const auto* move = move_of(step)) object["class"] = name(move->cls);
}

Json step_json(const Step& step) {
  const auto text = text_of(step);
  Json object;
  object["op"] = name(step.operation);
  put_known(object, "hierarchy", step.group.hierarchy.str());
  object["path"] = json_parts::text(step.group.path.str());
  if (!is<op::Create>(step)) put_known(object, "key", text.key);
  put_known(object, "old", text.old_value);
  put_known(object, "new", text.new_value);
  put_task(object, step);
  return object;
}

/// What both documents say first.
Json heading(const Planned& planned) {
  const auto& wish = planned.desired;
  Json object;
  object["sandbox"] = json_parts::text(planned.id);
  object["layout"] = name(wish.layout);
  object["layout_source"] = name(wish.layout_source);
  object["driver"] = name(wish.driver);
  object["hierarchy"] = name(planned.hierarchy);
  const bool known = !wish.sandbox_cgroup.is_root();
  if (known) object["pod_cgroup"] = json_parts::text(wish.pod_cgroup.str());
  if (known) object["sandbox_cgroup"] = json_parts::text(wish.sandbox_cgroup.str());
  if (!wish.overhead_cgroup.is_root())
    object["overhead_cgroup"] = json_parts::text(wish.overhead_cgroup.str());
  put_known(object, "waiting_for", wish.waiting_for);
  object["overhead"] = json_parts::overhead(wish.overhead);
  return object;
}

Json conditions_json(const Planned& planned) {
  Json array = Json::array();
  for (const auto& one : planned.conditions) array.push_back(json_parts::condition(one));
  return array;
}

Json plan_json(const Planned& planned) {
  Json object = heading(planned);
  object["groups"] = Json::array();
  for (const auto& group : by_path(planned.desired.groups))
    object["groups"].push_back(group_json(group));
  object["steps"] = Json::array();
  for (const auto& step : planned.plan.steps) object["steps"].push_back(step_json(step));
  object["conditions"] = conditions_json(planned);
  return object;
}

Json explanation_json(const Explanation& explanation) {
  Json object;
  object["subject"] = json_parts::text(explanation.subject);
  object["value"] = json_parts::text(explanation.value);
  put_known(object, "in_force", explanation.in_force);
  put_known(object, "path", explanation.path);
  put_known(object, "formula", explanation.formula);
  object["inputs"] = Json::array();
  for (const auto& input : explanation.inputs) {
    Json one;
    one["name"] = json_parts::text(input.name);
    one["value"] = json_parts::text(input.value);
    one["source"] = json_parts::text(input.source);
    object["inputs"].push_back(one);
  }
  put_known(object, "change", explanation.change);
  return object;
}

Json explain_json(const Planned& planned) {
  Json object = heading(planned);
  object["explanations"] = Json::array();
  for (const auto& one : planned.explanations)
    object["explanations"].push_back(explanation_json(one));
  object["conditions"] = conditions_json(planned);
  return object;
}

std::string all_of(const std::vector<Planned>& sandboxes, bool one, Json (*make)(const Planned&)) {
  std::vector<Json> entries;
  for (const auto& planned : sandboxes) entries.push_back(make(planned));
  return json_parts::document(std::move(entries), one);
}

}  // namespace

std::string plan_document(const std::vector<Planned>& sandboxes, bool one) {
  return all_of(sandboxes, one, plan_json);
}

std::string explain_document(const std::vector<Planned>& sandboxes, bool one) {
  return all_of(sandboxes, one, explain_json);
}

}  // namespace kcg
