// SPDX-License-Identifier: Apache-2.0
#include "model/step.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "base/text.hpp"
#include "model/mark.hpp"

namespace kcg {

namespace {

StepText text_of_change(const op::Change& change) {
  return {change.key, change.old_value, change.new_value, std::nullopt};
}

/// A program shows on the side where it is: attached is new.
StepText text_of_device(const DeviceChange& change) {
  StepText text;
  text.key = "device-program";
  (change.attach ? text.new_value : text.old_value) = std::to_string(change.program);
  return text;
}

}  // namespace

std::string_view name(const Operation& operation) {
  return std::visit(
      Overloaded{
          [](const op::Create&) { return "create"; }, [](const op::Mark&) { return "mark"; },
          [](const op::Enable&) { return "enable"; },
          [](const op::MakeThreaded&) { return "enable"; }, [](const op::Seed&) { return "seed"; },
          [](const op::Device&) { return "device"; }, [](const op::Limit&) { return "limit"; },
          [](const op::MoveProcess&) { return "move-process"; },
          [](const op::MoveThread&) { return "move-thread"; },
          [](const op::Remove&) { return "remove"; },
          [](const op::StartScope&) { return "start-scope"; },
          [](const op::SetScope&) { return "set-scope"; },
          [](const op::Disable&) { return "disable"; }, [](const op::Unmark&) { return "unmark"; }},
      operation);
}

const op::Move* move_of(const Step& step) {
  if (const auto* process = as<op::MoveProcess>(step)) return process;
  return as<op::MoveThread>(step);
}

const op::Change* change_of(const Step& step) {
  if (const auto* seed = as<op::Seed>(step)) return seed;
  if (const auto* limit = as<op::Limit>(step)) return limit;
  return as<op::SetScope>(step);
}

bool by_systemd(const Step& step) { return is<op::StartScope>(step) || is<op::SetScope>(step); }

std::string_view file_of(const op::MoveProcess& /*move*/) { return "cgroup.procs"; }
std::string_view file_of(const op::MoveThread& move) {
  return move.v1 ? "tasks" : "cgroup.threads";
}

std::string text_of(const op::Disable& disable) {
  std::string text;
  for (const auto& controller : disable.controllers)
    text += fmt::format("{}-{}", text.empty() ? "" : " ", controller);
  return text;
}

std::string unit_of(const GroupRef& scope) { return std::string(scope.path.name()); }

std::string slice_of(const GroupRef& scope) {
  const auto slice = scope.path.parent();
  return slice.is_root() ? "-.slice" : std::string(slice.name());
}

StepText text_of(const Step& step) {
  const auto& group = step.group;
  const auto move = [&](const auto& one) {
    return StepText{std::string(file_of(one)), one.from, std::string(group.path.str()), one.task};
  };
  return std::visit(
      Overloaded{
          [](const op::Create& one) { return StepText{one.parent ? "parent" : "", {}, {}, {}}; },
          [](const op::Mark& one) { return StepText{kMarkAttribute, {}, one.id, {}}; },
          [](const op::Enable& one) {
            return StepText{op::Enable::kFile, one.enabled, fmt::format("+{}", one.controller), {}};
          },
          [](const op::MakeThreaded& one) {
            return StepText{op::MakeThreaded::kFile, one.type, op::MakeThreaded::kType, {}};
          },
          [](const op::Change& one) { return text_of_change(one); },
          [](const op::Device& one) { return text_of_device(one.change); },
          [&](const op::MoveProcess& one) { return move(one); },
          [&](const op::MoveThread& one) { return move(one); },
          [](const op::Remove&) { return StepText{}; },
          [&](const op::StartScope& one) {
            return StepText{unit_of(group), {}, slice_of(group), one.first};
          },
          [](const op::Disable& one) {
            return StepText{op::Enable::kFile, join(one.controllers, " "), text_of(one), {}};
          },
          [](const op::Unmark& one) { return StepText{kMarkAttribute, one.id, {}, {}}; }},
      step.operation);
}

}  // namespace kcg
