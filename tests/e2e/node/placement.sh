# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Which group a sandbox should be in, and whether it is: read from the kernel, not from the daemon.

# Below the cgroup root: Kata's own group, and ours in its three forms.
relative() { echo "${1#"$cgroups"}"; }
kata_scope() { relative "$(pod_directory "$1")/cri-containerd-$(pod_id "$1").scope"; }
kata_group() { relative "$(pod_directory "$1")/kata_$(pod_id "$1")"; }
# The kubelet takes 64 of these characters in a row for a container's id.
name_in_scope() { sed -E ':a; s/([a-z0-9]{32})([a-z0-9]{32})/\1-\2/; ta' <<<"$1"; }
nested_group() { echo "$(kata_scope "$1")/kata-sandbox-$(name_in_scope "$(pod_id "$1")")"; }
beside_group() { relative "$(pod_directory "$1")/kata-sandbox-$(pod_id "$1")"; }
scope_group() { echo "$(beside_group "$1").scope"; }

# The form that a pod with Kata's usual groups gets with this driver.
sandbox_group() {
  if [[ $(<"/run/pods/$1/parent") == *.slice ]]; then nested_group "$1"; else beside_group "$1"; fi
}

# content ID: the daemon has placed it and complains of nothing that the summary does not name; or
# says of what.
content() {
  listed "$1" | jq -e --argjson named "$(jq -n "$expected + $tolerated")" \
    '(.state == "placed" or .state == "degraded")
      and all(.conditions[]; .severity == "info" or (.name | IN($named[])))' ||
    { cgctl show --json "$1" | jq -c '.state, .conditions[]' && return 1; }
}

# settled ID: nothing is left to do for it; or says what.
settled() { cgctl plan --detailed-exitcode "$1"; }

# agreed ID: the daemon, too, takes it for placed.
agreed() {
  quiet
  wait_for 30 "the daemon is content with $1" content "$1"
  wait_for 30 "nothing is left to do for $1" settled "$1"
}

# stands POD GROUP [--flat]: its threads are where they belong, its limits are in force, and the
# daemon agrees.
stands() {
  local id
  id=$(pod_id "$1")
  witness ${3:+"$3"} "$id" "$2" || fail "pod $1 is not placed in $2"
  equal "mark of $2" \
    "$(getfattr --absolute-names --only-values -n trusted.kata-cgroupd "$cgroups$2")" "$id"
  limits_hold "$1" "$2"
  agreed "$id"
  say "pod $1 is placed in $2"
}

# placed POD [GROUP]: by class
placed() { stands "$1" "${2:-$(sandbox_group "$1")}"; }

# placed_in_one POD: when there are no groups by class
placed_in_one() { stands "$1" "$(sandbox_group "$1")" --flat; }

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
ours_gone() { none "$cgroups" "(" -name "kata-sandbox-$1*" -o -name "kata-sandbox-$(name_in_scope "$1")*" ")"; }

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
