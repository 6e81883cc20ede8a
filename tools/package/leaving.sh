# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What every package says when it goes: which sandboxes live in groups of ours. Whatever comes of
# that, it goes.
say_who_stays() {
  checked=0
  found=$(timeout 60 "${cgctl:-cgctl}" uninstall-check) || checked=$?
  [ "$checked" -eq 4 ] || return 0
  echo "These sandboxes live in groups of kata-cgroupd:"
  echo "$found"
  echo "They keep these groups, and their limits, until they end. To give them back: stop the"
  echo "service, and run 'cgctl release' before the package is removed."
}
