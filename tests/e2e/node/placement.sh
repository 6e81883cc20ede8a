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

# placed POD [GROUP]: all its threads by class, and the daemon has nothing left to say or do.
placed() {
  local id group
  id=$(pod_id "$1")
  group=${2:-$(sandbox_group "$1")}
  witness "$id" "$group" || fail "pod $1 is not placed in $group"
  wait_for 30 "state of pod $1 becomes placed" in_state "$id" placed
  equal "mark of $group" \
    "$(getfattr --absolute-names --only-values -n user.kata-cgroupd "$cgroups$group")" "$id"
  say "pod $1 is placed in $group"
}

# same_places POD: a word for where everything is, to compare before and after.
same_places() { witness "$(pod_id "$1")" | grep -v '\(runc\|bash\|sh\)' | cut -f 1,2,4,5 | sort; }

childless() { [[ -z $(find "$1" -mindepth 1 -type d | tee /dev/stderr) ]]; }

# nothing_left POD ID: after its end, neither of ours nor of Kata's.
nothing_left() {
  local directory
  directory=$(pod_directory "$1")
  wait_for 30 "the groups of pod $1 go" childless "$directory"
  wait_for 30 "the daemon forgets pod $1" unknown "$2"
}

# value POD-GROUP FILE: of a cgroup below the root
value() { cat "$cgroups$1/$2"; }
