# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Private memory is looked at every 10 min: not before there is something to see.
start_daemon '[measure]
interval = "off"'
# touched POD: the mapping that has most is the guest's RAM, of which it leaves the first MiB alone
touched() {
  (($(awk '$1 == "Rss:" && $2 > most { most = $2 } END { print most }' "/proc/$(vmm_pid "$1")/smaps") >= 127 << 10))
}
# begin POD: its guest touches all of its memory once it is placed
begin() {
  run_pod "$1"
  waits() { [[ $(group_of "$(vmm_pid "$1")") == "$(sandbox_group "$1")/vmm" ]]; }
  wait_for 30 "the paused VMM of pod $1 is placed" waits "$1"
  qmp "$1" cont
  wait_for 120 "the guest of pod $1 has touched its memory" touched "$1"
  run_container "$1" app 512 50000
  placed "$1"
}
kata_settings GUEST=touch MEMORY_MIB=128 PAUSED=true
begin 1
kata_settings GUEST=touch MEMORY_MIB=128 PAUSED=true VIRTIOFSD=false
memory_overhead=4 pod_memory_mib=768
begin 2
# What the VMM touched before it was placed is charged elsewhere, on a busy node nearly all of it: the
# VMM of pod 2 takes more than was declared after it.
qmp 2 object-add '{"qom-type": "memory-backend-ram", "id": "more", "size": 33554432, "prealloc": true}'
printf '[measure]\ninterval = "1s"\n' >/etc/kata-cgroupd/config.d/case.toml
cgctl reload || fail "the interval is not taken"

# Its guest touches nothing: Kata has its QEMU take all pages beforehand, and they are charged to nobody.
echo 32 >/proc/sys/vm/nr_hugepages
kata_settings MEMORY_MIB=64 HUGEPAGES=true
run_pod 3
run_container 3 app 512 50000
placed 3
equal "huge pages of pod 3" "$(awk '$1 == "HugetlbPages:" { print $2 }' "/proc/$(vmm_pid 3)/status")" 65536

measured() { cgctl show --json "$(pod_id "$1")" | jq -e .overhead.used_bytes; }
# known POD: what its group is charged with beside files and the 127 MiB that a guest has touched
known() {
  local group guest=127
  group=$(sandbox_group "$1")
  (($1 < 3)) || guest=0
  echo $(($(value "$group" memory.current) - (guest << 20) -
    $(value "$group" memory.stat | awk '/^(in)?active_file / { sum += $2 } END { print sum }')))
}
# right POD: within 5 % and 4 MiB
right() {
  local got wanted
  got=$(measured "$1") || return
  wanted=$(known "$1")
  awk -v got="$got" -v wanted="$wanted" 'BEGIN {
    error = got > wanted ? got - wanted : wanted - got
    printf "measured %d, known %d\n", got, wanted
    exit error > wanted / 20 + 4 * 1048576 }'
}
wait_for 60 "the overhead of pod 1 is right" right 1
right 1
wait_for 60 "the overhead of pod 2 is right" right 2
right 2
wait_for 60 "the overhead of pod 3 is right" right 3
right 3
exceeded() { [[ $(cgctl show --json "$(pod_id "$1")" | jq -r '[.conditions[].name] | join(" ")') == *OverheadExceeded* ]]; }
wait_for 30 "pod 2 uses more than was declared" exceeded 2
refused exceeded 1
# What a monitoring system asks: one call for all.
busctl --json=short call io.katacontainers.CgroupManager1 /io/katacontainers/CgroupManager1 \
  io.katacontainers.CgroupManager1.Manager GetStats |
  jq -e '.data[0] | length == 3 and all(.[][1]; .MemoryOverheadUsedBytes.data > 0 and .CpuTotalUsec.data > 0)' ||
  fail "GetStats does not tell both"
# The same for Prometheus, under the unit that is installed.
systemd-sysusers kata-cgroup-exporter.conf # what packages do when they are installed
systemctl start kata-cgroup-exporter
served() {
  curl --silent http://127.0.0.1:9838/metrics >/run/served &&
    (($(grep -c '^kata_sandbox_memory_overhead_used_bytes{' /run/served) == 3)) &&
    grep -q '^kata_sandbox_condition{.*pod-2.*condition="OverheadExceeded",severity="warning"} 1$' /run/served
}
wait_for 30 "the exporter tells it" served
equal "whose process it is" "$(ps -o user:32= -p "$(systemctl show --value --property=MainPID kata-cgroup-exporter)")" kata-cgroup-exporter
systemctl stop kata-cgroupd
dead() { curl --silent http://127.0.0.1:9838/metrics | grep -q '^kata_cgroupd_up 0$'; }
wait_for 30 "the exporter tells that the daemon is dead" dead
systemctl start kata-cgroupd
# surveyed: how many sandboxes the recommendation knows, with the daemon and without
surveyed() {
  cgctl recommend "$@" --json | jq '[.handlers[].sandboxes] | add // 0'
}
equal "sandboxes that live and count" "$(surveyed)" 3
for pod in 1 2 3; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
equal "sandboxes that have ended and count" "$(surveyed)" 3
systemctl stop kata-cgroupd
rm -r /run/kata-cgroupd/history-* # as after a boot
equal "what is kept of them" "$(surveyed --no-daemon)" 3
systemctl start kata-cgroupd
equal "what the next daemon knows" "$(surveyed)" 3
