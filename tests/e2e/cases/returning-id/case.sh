# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
limits=unchecked
start_daemon
daemon=$(daemon_pid)
ids_on_bus() {
  busctl --json=short call io.katacontainers.CgroupManager1 /io/katacontainers/CgroupManager1 \
    org.freedesktop.DBus.ObjectManager GetManagedObjects |
    jq -r '.data[0] | keys[] | select(contains("/sandbox/")) | sub(".*/"; "")'
}
alive() { [[ $(daemon_pid) == "$daemon" ]] || fail "the daemon is another one"; }

id=c0ffee
for _ in 1 2 3; do
  cgctl register "$id" --cgroups-path "/again/$id"
  cgctl unregister "$id"
  cgctl register "$id" --cgroups-path "/again/$id"
  cgctl list >/dev/null
  alive
  cgctl unregister "$id"
  cgctl list >/dev/null
  alive
done
equal "sandboxes on the bus" "$(ids_on_bus)" ""

# live ID: from its start to its end, through the engine but without the kubelet
live() {
  ctr -n k8s.io run --detach --null-io --runtime io.containerd.kata.v2 --cgroup "/again/$1" \
    --annotation io.kubernetes.cri.container-type=sandbox \
    --annotation "io.kubernetes.cri.sandbox-id=$1" localhost/pause:1 "$1"
  witness "$1" "/again/kata-sandbox-$1" || fail "$1 is not placed"
  agreed "$1"
  equal "sandboxes on the bus" "$(ids_on_bus)" "$1"
  ctr -n k8s.io task rm --force "$1"
  ctr -n k8s.io container rm "$1"
}
mkdir -p "$cgroups/again"
echo '+cpu +cpuset +memory +pids +io' >"$cgroups/cgroup.subtree_control"
for _ in 1 2 3 4; do
  live "$id"
  alive
done
cgctl register "$id" --cgroups-path "/again/$id"
live "$id"
alive
cgctl unregister "$id"
wait_for 30 "the daemon forgets it" unknown "$id"
equal "sandboxes on the bus" "$(ids_on_bus)" ""
wait_for 30 "its groups go" ours_gone "$id"
alive
