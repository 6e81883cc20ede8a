# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
start_daemon
trace=/sys/kernel/tracing/instances/peers
mountpoint --quiet /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
mkdir "$trace"
echo boot >"$trace/trace_clock"
for event in sched/sched_process_exec cgroup/cgroup_attach_task; do
  echo 1 >"$trace/events/$event/enable"
done
for ((pod = 1; pod <= 10; ++pod)); do
  systemd-run --scope --quiet true
  driver=cgroupfs
  run_pod "$pod"
  placed "$pod"
  stop_pod "$pod"
done
echo 0 >"$trace/tracing_on"
python3 -IS /run/node/case/durations "$trace/trace" || fail "something was not measured"
