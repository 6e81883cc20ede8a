# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Which group a sandbox should be in, and whether it is: read from the kernel, not from the daemon.

# Below the cgroup root: Kata's own group, and ours in its three forms.
relative() { echo "${1#"$cgroups"}"; }
kata_scope() { relative "$(pod_directory "$1")/cri-containerd-$(pod_id "$1").scope"; }
kata_group() { relative "$(pod_directory "$1")/kata_$(pod_id "$1")"; }
nested_group() { echo "$(kata_scope "$1")/kata-sandbox-$(pod_id "$1")"; }
beside_group() { relative "$(pod_directory "$1")/kata-sandbox-$(pod_id "$1")"; }
scope_group() { echo "$(beside_group "$1").scope"; }

# The form that a pod with Kata's usual groups gets with this driver.
sandbox_group() {
  if [[ $(<"/run/pods/$1/parent") == *.slice ]]; then nested_group "$1"; else beside_group "$1"; fi
}

# in_groups POD [GROUP]: all its threads by class
in_groups() {
  local id group
  id=$(pod_id "$1")
  group=${2:-$(sandbox_group "$1")}
  witness "$id" "$group" || fail "pod $1 is not placed in $group"
  equal "mark of $group" \
    "$(getfattr --absolute-names --only-values -n user.kata-cgroupd "$cgroups$group")" "$id"
}

# The one condition that a case may expect, for instance since its pods start without the daemon.
tolerated=

# content ID: the daemon has placed it and complains of nothing else.
content() {
  listed "$1" | jq -e --arg tolerated "$tolerated" \
    '(.state == "placed" or .state == "degraded")
      and all(.conditions[]; .severity == "info" or .name == $tolerated)'
}

# placed POD [GROUP]: the same, and the daemon agrees.
placed() {
  local id group
  id=$(pod_id "$1")
  group=${2:-$(sandbox_group "$1")}
  in_groups "$1" "$group"
  wait_for 30 "the daemon is content with pod $1" content "$id"
  say "pod $1 is placed in $group"
}

# in_one_group POD: all its threads, when there are no groups by class
in_one_group() {
  witness --flat "$(pod_id "$1")" "$(sandbox_group "$1")" || fail "pod $1 is not in its group"
}

# places POD: where each thread of shim and hypervisor is, to compare before and after
places() {
  witness "$(pod_id "$1")" |
    awk -F '\t' -v shim="$(shim_pid "$1")" -v vmm="$(vmm_pid "$1")" \
      '$1 == vmm || $1 == shim && $2 == shim { print $2, $5 }' | sort
}

group_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

# none FIND-ARGUMENT...: or says which there are
none() {
  local found
  found=$(find "$@" -type d)
  [[ -z $found ]] || { echo "$found" && return 1; }
}

# childless DIRECTORY: no group is below it.
childless() { none "$1" -mindepth 1; }

# ours_gone ID: none of our groups is left of it.
ours_gone() { none "$cgroups" -name "kata-sandbox-$1*"; }

# nothing_left POD ID: after its end, neither of ours nor of Kata's.
nothing_left() {
  local directory
  directory=$(pod_directory "$1")
  wait_for 30 "the groups of pod $1 go" childless "$directory"
  wait_for 30 "the daemon forgets pod $1" unknown "$2"
}

# value POD-GROUP FILE: of a cgroup below the root
value() { cat "$cgroups$1/$2"; }

# whole_life POD: of a pod that runs already: containers come, change and go, and so does the pod.
whole_life() {
  local id
  id=$(pod_id "$1")
  run_container "$1" first 128 50000
  run_container "$1" second 128 20000
  placed "$1"
  update_container "$1" second 192 30000
  placed "$1"
  stop_container "$1" first
  placed "$1"
  equal "conditions" "$(conditions "$id")" ""
  stop_pod "$1"
  nothing_left "$1" "$id"
  remove_pod_cgroup "$1"
}
