# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What every case may use: saying, checking, waiting.

say() { printf '%7.1f %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"; }

fail() {
  say "FAILED: $*"
  exit 1
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds. The seconds are those of an idle
# host; a busy one gets more.
wait_for() { within $(($1 * 3)) "${@:2}"; }

# within SECONDS WHAT COMMAND...: not a second more
within() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= end)); then
      "$@" || true # now with what it has to say
      fail "$what: not within $seconds s"
    fi
    sleep 0.3
  done
}

# equal WHAT GOT WANTED
equal() { [[ $2 == "$3" ]] || fail "$1: '$2', not '$3'"; }

# between WHAT GOT LEAST MOST
between() { (($2 >= $3 && $2 <= $4)) || fail "$1: $2, not from $3 to $4"; }

# refused COMMAND...: it must fail, and what it says goes to stdout.
refused() {
  if "$@" 2>&1; then fail "succeeded: $*"; fi
}

# together FUNCTION ARGUMENT...: for each argument at the same time
together() {
  local run=$1 one pids=()
  shift
  for one in "$@"; do
    "$run" "$one" &
    pids+=($!)
  done
  for one in "${pids[@]}"; do wait "$one" || fail "one of several: $run"; done
}

# journal MATCH...: all that was said until now
journal() {
  journalctl --sync
  journalctl --no-pager --output=cat "$@"
}

gone() { [[ ! -e $1 ]]; }
