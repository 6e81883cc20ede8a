# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Groups as the kubelet makes them, in every hierarchy that the daemon manages, and their removal.

# "controllers mount-point" per managed v1 hierarchy; of a pure v2 tree one line "v2 mount-point".
hierarchies() {
  awk '{
      for (i = 7; $i != "-"; i++);
      if ($(i + 1) == "cgroup2") unified = $5
      if ($(i + 1) != "cgroup") next
      count = split($(i + 3), words, ",")
      names = ""
      for (w = 1; w <= count; w++)
        if (words[w] ~ /^(cpu|cpuacct|cpuset|memory|blkio|pids|hugetlb|perf_event)$/)
          names = names (names == "" ? "" : ",") words[w]
      if (names != "") { print names, $5; found = 1 }
    }
    END { if (!found && unified != "") print "v2", unified }' /proc/self/mountinfo
}

# The pod's limits: those of its container (1 CPU, 512 MiB) and its overhead (0.25 CPU, 350 MiB).
pod_limits=(
  memory.limit_in_bytes=903872512 cpu.cfs_quota_us=125000 cpu.shares=1280
  memory.max=903872512 "cpu.max=125000 100000" cpu.weight=120
)

make_pod_group() {
  local names mount group limit
  while read -r names mount; do
    if [[ $names == v2 ]]; then enable_controllers "$mount"; fi
    for group in "$mount/$top" "$mount/$top/pod$pod_uid"; do
      mkdir "$group"
      if [[ -f $group/cpuset.mems && $names != v2 ]]; then
        cat "${group%/*}/cpuset.cpus" >"$group/cpuset.cpus"
        cat "${group%/*}/cpuset.mems" >"$group/cpuset.mems"
      fi
    done
    if [[ $names == v2 ]]; then pass_controllers "$mount/$top"; fi
    for limit in "${pod_limits[@]}"; do
      [[ ! -f $group/${limit%%=*} ]] || echo "${limit#*=}" >"$group/${limit%%=*}"
    done
  done < <(hierarchies)
}

# v2: what the root does not pass on yet is passed on while we run.
enable_controllers() {
  local controller
  for controller in cpu cpuset memory io pids; do
    if grep -qw $controller "$1/cgroup.controllers" &&
      ! grep -qw $controller "$1/cgroup.subtree_control"; then
      echo "+$controller" >"$1/cgroup.subtree_control"
      enabled+=("$1=$controller")
    fi
  done
}
pass_controllers() {
  local controller
  for controller in $(<"$1/cgroup.controllers"); do
    case $controller in
      cpu | cpuset | memory | io | pids) echo "+$controller" >"$1/cgroup.subtree_control" ;;
    esac
  done
}

our_groups() {
  local mount
  while read -r _ mount; do
    find "$mount/$top" -name "kata-sandbox-$id" 2>/dev/null || true
  done < <(hierarchies)
}
groups_gone() { [[ -z $(our_groups) ]]; }

remove_groups() {
  local mount entry
  while read -r _ mount; do
    [[ -d $mount/$top ]] || continue
    await 10 remove_tree "$mount/$top" || echo "quickstart: cannot remove $mount/$top" >&2
  done < <(hierarchies)
  for entry in "${enabled[@]}"; do
    echo "-${entry#*=}" >"${entry%=*}/cgroup.subtree_control" || true
  done
}
remove_tree() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null; [[ ! -d $1 ]]; }
