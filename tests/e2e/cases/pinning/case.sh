# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
settings=(PINNING=true VCPUS=1 MAX_VCPUS=2 MEMORY_MIB=64 VIRTIOFSD=false)
kata_settings "${settings[@]}"
start_daemon

# vcpus POD: their threads, wherever Kata has them just now
vcpus() {
  local vmm
  vmm=$(vmm_pid "$1")
  cat /sys/kernel/debug/kvm/"$vmm"-*/vcpu*/pid
}
# pinned POD WANTED: the CPUs of its vCPUs, one after another
pinned() {
  local tid
  equal "CPUs of the vCPUs of pod $1" "$(for tid in $(vcpus "$1"); do
    sed -n 's/^Cpus_allowed_list:\s*//p' "/proc/$tid/status"
  done | sort | paste -sd' ')" "$2"
}
# change POD: containers come, change and go; each call must succeed.
change() {
  container_cpus=1 run_container "$1" second 64 20000
  pinned "$1" "0 1"
  container_cpus=0 update_container "$1" second 64 20000
  pinned "$1" "0 0"
  container_cpus=1 update_container "$1" second 64 20000
  pinned "$1" "0 1"
  stop_container "$1" second
}
# repinned POD FOLLOWER: forty times, where Kata has a cpuset; the follower is a group of ours
repinned() {
  [[ -n $kata ]] || return 0
  # shellcheck disable=SC2046
  python3 -IS /run/node/repin 40 "$cgroups$kata" "${2:+$cgroups$group/$2}" $(vcpus "$1") ||
    fail "vCPUs cannot be pinned right behind Kata's cpuset"
}
# wide: who holds threads that Kata pins is never narrower than the pod's cgroup.
wide() {
  local one
  for one in "" /vcpu /vmm; do equal "cpuset of $group$one" "$(value "$group$one" cpuset.cpus)" ""; done
}
# live POD KATA GROUP FOLLOWER
live() {
  kata=$2 group=$3
  placed "$1" "$group"
  container_cpus=0 run_container "$1" first 64 20000
  pinned "$1" 0
  repinned "$1" "$4"
  plug_vcpu "$1" 1
  placed "$1" "$group"
  repinned "$1" "$4"
  change "$1"
  wide
  placed "$1" "$group"
  systemctl stop kata-cgroupd
  change "$1"
  repinned "$1" ""
  wide
  systemctl start kata-cgroupd
  placed "$1" "$group"
  say "pod $1 was pinned"
}
driver=cgroupfs
run_pod 1
live 1 "$(kata_group 1)" "$(beside_group 1)" io
driver=systemd
run_pod 2
live 2 "$(kata_scope 2)" "$(nested_group 2)" ""
kata_settings "${settings[@]}" OWN_GROUP=false
run_pod 3
live 3 "" "$(scope_group 3)" ""
kata_settings "${settings[@]}" SANDBOX_CGROUP_ONLY=false
driver=cgroupfs
run_pod 4
live 4 "$(kata_group 4)" "$(beside_group 4)" io
