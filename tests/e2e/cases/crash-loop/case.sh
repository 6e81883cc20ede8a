# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
pod_quota=400000
start_daemon
run_pod 1
run_container 1 steady 64 30000
run_container 1 crashing 64 50000
placed 1
for attempt in 1 2 3 4 5 6; do
  crash_container 1 crashing
  limits_hold 1
  restart_container 1 crashing "$attempt" 64 50000
  limits_hold 1
done
equal "conditions" "$(conditions "$(pod_id 1)")" ""
placed 1
