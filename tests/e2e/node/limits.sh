# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Which limits a pod's sandbox must have, computed from what the kubelet asked for, and whether the
# kernel has them.

limits=checked # unchecked: the case looks for itself, or its pods get others

# remember_pod POD: /run/pods/POD/{boot,overhead,pod,largest}, in MiB, and containers/
remember_pod() {
  local directory=/run/pods/$1
  kata_setting MEMORY_MIB >"$directory/boot"
  echo "$memory_overhead" >"$directory/overhead"
  echo "$pod_memory_mib" >"$directory/pod"
  echo "$sandbox_memory_mib" >"$directory/largest"
  mkdir -p "$directory/containers"
}

# remember_container POD NAME MEMORY_MIB QUOTA: the guest does not give memory back.
remember_container() {
  local directory=/run/pods/$1 sum
  echo "$3 $4" >"$directory/containers/$2"
  sum=$(awk '{ if ($1 == 0) none = 1; sum += $1 } END { print none ? "max" : sum }' \
    "$directory"/containers/*)
  if [[ $sum == max || $(<"$directory/largest") == max ]]; then
    echo max >"$directory/largest"
  elif ((sum > $(<"$directory/largest"))); then
    echo "$sum" >"$directory/largest"
  fi
}

# wanted_memory POD: memory.max, in bytes: what the VM has at boot, the containers' limits and the
# overhead, but no less than the pod's own limit
wanted_memory() {
  local directory=/run/pods/$1 sum
  if [[ $(<"$directory/overhead") == "" || $(<"$directory/largest") == max ]]; then
    echo max
    return
  fi
  sum=$(($(<"$directory/boot") + $(<"$directory/largest") + $(<"$directory/overhead")))
  echo $(((sum > $(<"$directory/pod") ? sum : $(<"$directory/pod")) << 20))
}

# wanted_quota POD: of the vCPUs; "" when no container is left of those that ran
wanted_quota() {
  local containers=("/run/pods/$1/containers"/*)
  [[ -e ${containers[0]} ]] || return 0
  awk '{ if ($2 == 0) none = 1; sum += $2 } END { print (none ? "max" : sum) " 100000" }' \
    "${containers[@]}"
}

# has_limits POD GROUP: says what it has instead
has_limits() {
  local memory quota wanted
  memory=$(value "$2" memory.max)
  quota=$(value "$2/vcpu" cpu.max)
  wanted=$(wanted_quota "$1")
  [[ $memory == "$(wanted_memory "$1")" && $quota == "${wanted:-$quota}" ]] && return
  echo "memory.max $memory, wanted $(wanted_memory "$1"); cpu.max $quota, wanted $wanted"
  return 1
}

# limits_hold POD [GROUP]
limits_hold() {
  [[ $limits == unchecked ]] ||
    wait_for 30 "the limits of pod $1" has_limits "$1" "${2:-$(sandbox_group "$1")}"
}
