# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the daemon may complain of: what the case's one line names, and nothing else. After its
# sentence that line may have clauses
#   Expects WHAT: why.     it must be told
#   Tolerates WHAT: why.   it may be told
# WHAT is a condition, or a "part" of a line of the journal.

summary=/run/node/case/summary.txt

# found REGEX: what of the summary fits its group, as JSON
found() { jq -R --arg regex "$1" '[scan($regex) | first]' "$summary"; }
clauses() { found "\\b$1 ([A-Z][A-Za-z0-9]+|\"[^\"]+\"): [^ ]"; }
expected=$(clauses Expects)
tolerated=$(clauses Tolerates)
equal "clauses of the summary that can be read" "$(jq -n "$expected + $tolerated | length")" \
  "$(found '\b(Expects|Tolerates)\b' | jq length)"

# said [ARGUMENT...]: what was said of the daemon's unit until now, by itself or by systemd
said() {
  journalctl --sync
  journalctl --no-pager --output=json --unit=kata-cgroupd "$@"
}

# A line of the journal is ABOUT what a clause names.
about='def about($what): .CONDITION == $what or
  (.MESSAGE | tostring | contains($what | select(startswith("\"")) | .[1:-1]));'

# quiet: no line from warning on but those of the clauses; or says which.
quiet() {
  local lines
  lines=$(said --priority=warning | jq -r --argjson named "$(jq -n "$expected + $tolerated")" \
    "$about"' select(any(about($named[]); .) | not) | .MESSAGE')
  [[ -z $lines ]] || fail "it was told what $summary does not name:
$lines"
}

# all_told: what is expected was.
all_told() {
  local missing
  missing=$(said | jq -rs --argjson expected "$expected" \
    "$about"' . as $lines | $expected[] as $what | select(any($lines[]; about($what)) | not) | $what')
  [[ -z $missing ]] || fail "never told, though $summary expects it: $missing"
}
