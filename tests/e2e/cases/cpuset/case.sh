# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
driver=cgroupfs
start_daemon
run_pod 1
placed 1
kata=$cgroups$(kata_group 1)/cpuset.cpus
follow() {
  local group
  for group in "" /vcpu /io /vmm /shim; do
    equal "CPUs of $group" "$(value "$(beside_group 1)$group" cpuset.cpus.effective)" "$1"
  done
}
follows() { (follow "$1"); }
for cpus in 0 1 0-1; do
  echo "$cpus" >"$kata"
  wait_for 30 "the sandbox follows to CPUs $cpus" follows "$cpus"
done
echo 1 >"$kata"
wait_for 30 "the sandbox follows to CPU 1" follows 1
grep -q 'Cpus_allowed_list:\s*1$' "/proc/$(vmm_pid 1)/status" || fail "QEMU may run elsewhere"
echo >"$kata"
wait_for 30 "all CPUs are given back" follows 0-1
placed 1
