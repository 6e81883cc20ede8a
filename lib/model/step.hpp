// SPDX-License-Identifier: Apache-2.0
//
// One kernel operation, or one call of systemd (L1): a type for each, with just what it needs
// beside its group.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/devices.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/process.hpp"
#include "model/wanted_file.hpp"

namespace kcg {

namespace op {

/// mkdir.
struct Create {
  bool parent = false;  ///< of a group of ours that stands deeper
  bool operator==(const Create&) const = default;
};

/// The sandbox that a group belongs to.
struct Mark {
  std::string id;
  bool operator==(const Mark&) const = default;
};

/// A controller for the children of a group.
struct Enable {
  static constexpr const char* kFile = "cgroup.subtree_control";
  std::string controller;    ///< "cpu"
  std::string enabled = {};  ///< those that are, kernel text
  bool operator==(const Enable&) const = default;
};

/// Controllers are taken from the children of a group again, and their limits with them.
struct Disable {
  std::vector<std::string> controllers;  ///< those that are enabled
  bool operator==(const Disable&) const = default;
};

/// v2: the group takes single threads.
struct MakeThreaded {
  static constexpr const char* kFile = "cgroup.type";
  static constexpr const char* kType = "threaded";
  std::string type;  ///< the present one, kernel text
  bool operator==(const MakeThreaded&) const = default;
};

/// A text takes another's place.
struct Change {
  std::string key;             ///< file of the group
  std::string old_value = {};  ///< kernel text; "" where it is not known
  std::string new_value = {};
  bool operator==(const Change&) const = default;
};

/// cpuset.cpus or cpuset.mems.
struct Seed : Change {};
struct Limit : Change {};
/// A limit of a scope, which systemd writes.
struct SetScope : Change {};

/// A device program is attached, or taken off again.
struct Device {
  DeviceChange change;
  bool operator==(const Device&) const = default;
};

/// Who moves, and from where.
struct Move {
  TaskKey task;
  ThreadClass cls = ThreadClass::vmm;
  std::string from = {};  ///< group; "" where it is not known
  bool operator==(const Move&) const = default;
};

/// With all its threads: cgroup.procs.
struct MoveProcess : Move {};
/// Alone: cgroup.threads; v1: tasks.
struct MoveThread : Move {
  Pid process = 0;  ///< whose thread it is
  bool v1 = false;
  bool operator==(const MoveThread&) const = default;
};

/// The group is not ours any more: what is Kata's, or systemd's, outlives us.
struct Unmark {
  std::string id;
  bool operator==(const Unmark&) const = default;
};

/// rmdir.
struct Remove {
  bool operator==(const Remove&) const = default;
};

/// systemd makes the group: its name is the unit's, its parent's name the slice's.
struct StartScope {
  std::optional<TaskKey> first = {};    ///< who it begins with; a preview may have nobody
  std::vector<WantedFile> limits = {};  ///< what it begins with
  bool operator==(const StartScope&) const = default;
};

}  // namespace op

using Operation = std::variant<op::Create, op::Mark, op::Enable, op::MakeThreaded, op::Seed,
                               op::Device, op::Limit, op::MoveProcess, op::MoveThread, op::Remove,
                               op::StartScope, op::SetScope, op::Disable, op::Unmark>;

/// "move-thread"; both ways to enable something are "enable".
[[nodiscard]] std::string_view name(const Operation& operation);

/// Value: an operation and its group.
struct Step {
  GroupRef group;
  Operation operation;
  bool operator==(const Step&) const = default;
};

/// The operation of a step, if it is of this type.
template <class T>
[[nodiscard]] const T* as(const Step& step) {
  return std::get_if<T>(&step.operation);
}
template <class T>
[[nodiscard]] bool is(const Step& step) {
  return std::holds_alternative<T>(step.operation);
}

/// Who a step moves; nullptr: nobody.
[[nodiscard]] const op::Move* move_of(const Step& step);
/// The file that a seed or a limit changes, whoever writes it; nullptr: none.
[[nodiscard]] const op::Change* change_of(const Step& step);
/// systemd does it, and answers later.
[[nodiscard]] bool by_systemd(const Step& step);

/// The file that takes the task of a move.
[[nodiscard]] std::string_view file_of(const op::MoveProcess& move);
[[nodiscard]] std::string_view file_of(const op::MoveThread& move);
/// "-cpu -memory".
[[nodiscard]] std::string text_of(const op::Disable& disable);
/// Of a group that is a scope: "x.scope", and "y.slice" or "-.slice".
[[nodiscard]] std::string unit_of(const GroupRef& scope);
[[nodiscard]] std::string slice_of(const GroupRef& scope);

/// Value: a step as people read it; "" for what it does not have.
struct StepText {
  std::string key;        ///< file, property or unit
  std::string old_value;  ///< of a move: a group
  std::string new_value;
  std::optional<TaskKey> task;
};
[[nodiscard]] StepText text_of(const Step& step);

}  // namespace kcg
