# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1 "$(nested_group 1)"
whole_life 1
