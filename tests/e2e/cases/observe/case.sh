# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon 'mode = "observe"'
strace --follow-forks --decode-fds=path --output=/run/trace --attach="$(daemon_pid)" \
  --trace=openat,openat2,mkdir,mkdirat,rmdir,unlinkat,setxattr,fsetxattr &
tracer=$!
wait_for 30 "strace is there" grep -q "TracerPid:.[1-9]" "/proc/$(daemon_pid)/status"
run_pod 1
run_container 1 first
driver=cgroupfs
run_pod 2
planned() { cgctl plan --json "$(pod_id "$1")" | jq -e '.steps | length > 5'; }
for pod in 1 2; do wait_for 30 "a plan for pod $pod" planned "$pod"; done
equal "group of the hypervisor" "$(group_of "$(vmm_pid 1)")" "$(kata_scope 1)"
equal "group of the hypervisor" "$(group_of "$(vmm_pid 2)")" "$(kata_group 2)"
equal "groups of ours" "$(find "$cgroups" -name 'kata-sandbox-*')" ""
for pod in 1 2; do stop_pod "$pod"; done

kill "$tracer"
wait "$tracer" || true
(($(grep -c openat2 /run/trace) > 20)) || fail "the trace shows nothing at all"
equal "writes" "$({ grep -E 'O_WRONLY|O_RDWR|O_CREAT|^[0-9]+ +(mkdir|rmdir|unlink|f?setxattr)' \
  /run/trace || true; } | { grep /sys/fs/cgroup || true; })" ""
