# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Is every thread where it belongs? Asked of the kernel (/proc/<pid>/task/<tid>/cgroup), with QEMU's
# own word about which of its threads are what; the daemon is not asked.

# class_of PID TID: vCPUs by what QMP says. The host cannot tell an I/O thread from others without
# its name, and the daemon does not talk QMP: nameless ones stay with the VMM.
class_of() {
  if [[ $1 == "$shim_pid" ]]; then
    echo shim
  elif [[ ,$vcpus, == *,$2,* ]]; then
    echo vcpu
  elif [[ $(<"/proc/$1/task/$2/comm") == "IO "* ]]; then
    echo io
  else
    echo vmm
  fi
}

# wanted_path CONTROLLERS CLASS: threads are told apart where the kernel can, else whole processes.
wanted_path() {
  local sandbox=/$top/pod$pod_uid/kata-sandbox-$id
  case ,$1, in
    ,v2, | *,cpu,* | *,cpuacct,*) echo "$sandbox/$2" ;;
    *) echo "$sandbox" ;;
  esac
}

# path_in CONTROLLERS FILE: where a thread is, from its cgroup file.
path_in() {
  local names=$1
  [[ $names != v2 ]] || names=
  awk -F: -v names="$names" '
    { count = split($2, mine, ","); first = names; sub(/,.*/, "", first)
      for (i = 1; i <= count; i++) if (mine[i] == first) { sub(/^[^:]*:[^:]*:/, ""); print; exit }
      if (names == "" && $2 == "") { sub(/^0::/, ""); print; exit } }' "$2"
}

# Prints what is out of place; without that, one line of success.
verify() {
  local answer vcpus shim_pid vmm_pid pid task tid class names wrong=0 threads=0 count=0
  declare -A seen=()
  answer=$(control threads) || return
  vcpus=${answer#*vcpus=} vcpus=${vcpus%% *}
  answer=$(control status) || return
  shim_pid=${answer#*shim=} shim_pid=${shim_pid%% *}
  vmm_pid=${answer#*vmm=} vmm_pid=${vmm_pid%% *}
  if ((vmm_pid == 0)); then
    echo "QEMU has ended by itself: $(<"$(bundle_of "$id")/log")"
    return 1
  fi
  for pid in "$shim_pid" "$vmm_pid"; do
    for task in /proc/"$pid"/task/*; do
      tid=${task##*/}
      class=$(class_of "$pid" "$tid")
      threads=$((threads + 1))
      seen[$class]=$((${seen[$class]:-0} + 1))
      while read -r names _; do
        [[ ,$names, != *,cpuset,* ]] || continue # left to Kata, which has a group there
        count=$((count + 1))
        [[ $(path_in "$names" "$task/cgroup") == "$(wanted_path "$names" "$class")" ]] && continue
        echo "thread $tid ($class) is in $(path_in "$names" "$task/cgroup") of $names"
        wrong=$((wrong + 1))
      done < <(hierarchies)
    done
  done
  ((wrong == 0)) || return 1
  echo "The kernel says: all $threads threads (vcpu ${seen[vcpu]:-0}, io ${seen[io]:-0}," \
    "vmm ${seen[vmm]:-0}, shim ${seen[shim]:-0}) are where they belong; $count places checked."
}

# The kernel's word, and nothing left for the daemon to do.
in_place() { verify && cgctl plan "$id" --detailed-exitcode; }
