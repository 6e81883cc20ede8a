# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
driver=cgroupfs
pod_quota=400000
start_daemon
run_pod 1
placed 1
for number in 1 2 3 4 5 6 7 8 9 10; do
  run_container 1 "number-$number" 32 20000
  limits_hold 1
done
for number in 1 2 3 4 5 6 7 8 9; do
  stop_container 1 "number-$number"
  limits_hold 1
done
equal "quota" "$(value "$(sandbox_group 1)/vcpu" cpu.max)" "20000 100000"
equal "conditions" "$(conditions "$(pod_id 1)")" ""
placed 1
