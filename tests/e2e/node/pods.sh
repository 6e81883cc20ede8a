# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The kubelet's part: a pod's cgroup, and its life through the container runtime interface. A pod is
# named by a number. What these functions say of it is kept in /run/pods/N/: id, parent, driver.

bundles=/run/containerd/io.containerd.runtime.v2.task/k8s.io
cgroups=/sys/fs/cgroup

pod_uid() { printf '11111111-2222-3333-4444-%012d' "$1"; }

# What a case may change before it makes a pod.
driver=systemd           # or cgroupfs
pod_memory_mib=1024      # of the pod's cgroup: containers and overhead; 0: no limit
pod_quota=75000          # of the pod's cgroup, us per 100 ms
sandbox_memory_mib=268   # the engine's total of all containers; 0: it does not say
memory_overhead=350      # the annotation; "": none
pod_overhead_mib=0       # the RuntimeClass's, which the engine passes on through NRI alone; 0: none
more_annotations=        # in protobuf's text format
container_attempt=0      # how often the next container has been started before
container_cpus=          # of the next container: "0-1"; "": any

pod_memory() {
  if ((pod_memory_mib > 0)); then echo $((pod_memory_mib << 20)); else echo 18446744073709551615; fi
}

# The pod's cgroup as the kubelet names it, and its directory.
pod_parent() {
  local uid
  uid=$(pod_uid "$1")
  case $driver in
    systemd) echo "kubepods-burstable-pod${uid//-/_}.slice" ;;
    cgroupfs) echo "/kubepods/burstable/pod$uid" ;;
  esac
}
pod_directory() {
  local parent
  parent=$(<"/run/pods/$1/parent")
  case $parent in
    *.slice) echo "$cgroups/kubepods.slice/kubepods-burstable.slice/$parent" ;;
    *) echo "$cgroups$parent" ;;
  esac
}
pod_id() { cat "/run/pods/$1/id"; }

# start_slice SLICE DIRECTORY: may be asked again, as while systemd executes itself anew.
start_slice() {
  busctl -q call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
    org.freedesktop.systemd1.Manager StartTransientUnit 'ssa(sv)a(sa(sv))' "$1" replace 8 \
    Description s "libcontainer container $1" Wants as 1 kubepods-burstable.slice \
    MemoryAccounting b true CPUAccounting b true IOAccounting b true TasksAccounting b true \
    MemoryMax t "$(pod_memory)" CPUQuotaPerSecUSec t $((pod_quota * 10)) 0 || true
  [[ -d $2 ]]
}

# make_pod_cgroup POD: as the kubelet does before it asks for the pod.
make_pod_cgroup() {
  local parent
  parent=$(pod_parent "$1")
  mkdir -p "/run/pods/$1"
  echo "$parent" >"/run/pods/$1/parent"
  if [[ $driver == systemd ]]; then
    wait_for 30 "the slice $parent" start_slice "$parent" "$(pod_directory "$1")"
  else
    local directory above
    directory=$(pod_directory "$1")
    mkdir -p "$directory"
    for above in "" /kubepods /kubepods/burstable; do
      echo '+cpu +cpuset +memory +pids +io' >"$cgroups$above/cgroup.subtree_control"
    done
    pod_memory >"$directory/memory.max"
    echo "$pod_quota 100000" >"$directory/cpu.max"
  fi
}

# remove_pod_cgroup POD: the kubelet's removal fails if anybody left something in it.
remove_pod_cgroup() {
  local directory
  directory=$(pod_directory "$1")
  if [[ $(<"/run/pods/$1/parent") == *.slice ]]; then
    systemctl stop "$(<"/run/pods/$1/parent")"
    wait_for 30 "removal of $directory" gone "$directory"
  else
    wait_for 30 "removal of $directory" rmdir "$directory"
  fi
}

pod_config() {
  local overhead=
  [[ -z $memory_overhead ]] || overhead="annotations {
    key: \"io.katacontainers.config.hypervisor.memory_overhead\" value: \"$memory_overhead\" }"
  cat <<END
metadata { name: "pod-$1" uid: "$(pod_uid "$1")" namespace: "default" attempt: 0 }
log_directory: "/var/log/pods/$1"
$overhead
$more_annotations
linux {
  cgroup_parent: "$(<"/run/pods/$1/parent")"
  security_context { namespace_options { network: NODE } }
  overhead { memory_limit_in_bytes: $((pod_overhead_mib << 20)) }
  resources { memory_limit_in_bytes: $((sandbox_memory_mib << 20))
    cpu_period: 100000 cpu_quota: 50000 cpu_shares: 512 }
}
END
}

# run_pod POD [HANDLER]: makes its cgroup and runs it.
run_pod() {
  local answer
  make_pod_cgroup "$1"
  answer=$(cri RunPodSandbox <<<"config { $(pod_config "$1") } runtime_handler: \"${2:-kata}\"") ||
    fail "pod $1 does not start"
  sed -n 's/.*pod_sandbox_id: "\(.*\)"/\1/p' <<<"$answer" >"/run/pods/$1/id"
  remember_pod "$1"
  say "pod $1 runs: $(pod_id "$1")"
}

# resources MEMORY_MIB QUOTA: of a container; 0: without a limit.
resources() {
  echo "cpu_period: 100000 cpu_quota: $2 cpu_shares: 512 cpuset_cpus: \"$container_cpus\"
    memory_limit_in_bytes: $(($1 << 20)) memory_swap_limit_in_bytes: $(($1 << 20))"
}

# run_container POD NAME [MEMORY_MIB [QUOTA]]: creates and starts it; its id is kept.
run_container() {
  local id answer
  answer=$(cri CreateContainer <<END
pod_sandbox_id: "$(pod_id "$1")"
config {
  metadata { name: "$2" attempt: $container_attempt } image { image: "localhost/pause:1" } log_path: "$2.log"
  linux { resources { $(resources "${3:-128}" "${4:-50000}") }
    security_context { namespace_options { network: NODE } } }
}
sandbox_config { $(pod_config "$1") }
END
  ) || fail "container $2 of pod $1 cannot be created"
  id=$(sed -n 's/.*container_id: "\(.*\)"/\1/p' <<<"$answer")
  echo "$id" >"/run/pods/$1/container-$2"
  cri StartContainer <<<"container_id: \"$id\"" || fail "container $2 of pod $1 does not start"
  remember_container "$1" "$2" "${3:-128}" "${4:-50000}"
  say "container $2 of pod $1 runs: $id"
}
container_id() { cat "/run/pods/$1/container-$2"; }

# update_container POD NAME MEMORY_MIB QUOTA
update_container() {
  cri UpdateContainerResources \
    <<<"container_id: \"$(container_id "$1" "$2")\" linux { $(resources "$3" "$4") }" ||
    fail "container $2 of pod $1 cannot be updated"
  remember_container "$@"
}

# stop_container POD NAME
stop_container() {
  cri StopContainer <<<"container_id: \"$(container_id "$1" "$2")\" timeout: 10" ||
    fail "container $2 of pod $1 does not stop"
  cri RemoveContainer <<<"container_id: \"$(container_id "$1" "$2")\"" ||
    fail "container $2 of pod $1 cannot be removed"
  rm "/run/pods/$1/containers/$2"
}

# crash_container POD NAME: its process ends, and the engine takes notice.
crash_container() {
  kill -KILL "$(container_pid "$1" "$2")"
  rm "/run/pods/$1/containers/$2"
  wait_for 60 "the engine removes the bundle of $2" gone "$bundles/$(container_id "$1" "$2")"
}

# restart_container POD NAME ATTEMPT [MEMORY_MIB [QUOTA]]: the kubelet's next one after a crash
restart_container() {
  local before
  before=$(container_id "$1" "$2")
  container_attempt=$3 run_container "$1" "$2" "${@:4}"
  cri RemoveContainer <<<"container_id: \"$before\"" || fail "what crashed cannot be removed"
}

engine_answers() { cri ListPodSandbox <<<""; }

# stop_pod POD: stops and removes it; its cgroup stays.
stop_pod() {
  cri StopPodSandbox <<<"pod_sandbox_id: \"$(pod_id "$1")\"" || fail "pod $1 does not stop"
  cri RemovePodSandbox <<<"pod_sandbox_id: \"$(pod_id "$1")\"" || fail "pod $1 cannot be removed"
}
