# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What tests/contract asks of a kernel; where it was built one may have fewer controllers on v2.
echo '+cpu +cpuset +memory +pids +io' >"$cgroups/cgroup.subtree_control"
answers=$(/run/node/case/contract --gtest_filter='*/kernel' 2>&1) || fail "$answers"
[[ $answers != *"[  SKIPPED ]"* ]] || fail "not all of it ran: $answers"
for suite in V2/Structure V2/Tasks V2/Unified Worlds/Devices; do
  [[ $answers == *"tests from $suite"* || $answers == *"test from $suite"* ]] || fail "nothing of $suite ran: $answers"
done
say "$(tail -n 1 <<<"$answers")"
