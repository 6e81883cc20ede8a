# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the programs of this directory share; sourced by each. A package is made of what is committed,
# inside a root of a Debian release: the program calls itself there, in a mount namespace of its own.
package_dir=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source_dir=$(dirname "$(dirname "$package_dir")")
# shellcheck source=tools/debian-root
. "$source_dir/tools/debian-root"

usage() {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}

# Whoever owns the tree: packages are made as root.
sources() { git -c safe.directory="$source_dir" -C "$source_dir" "$@"; }

prepare() {
  sources diff --quiet HEAD ||
    echo "$0: packages what is committed; the tree has changes that are not" >&2
  "$source_dir/tools/install-deps"
}

# committed TREE [VERSION]: what is committed, called by that version
committed() {
  mkdir -p "$1"
  sources archive HEAD | tar -x -C "$1"
  [[ -z ${2:-} ]] || sed -i "s/^  version: '.*',/  version: '$2',/" "$1/meson.build"
}
# version_of MESON_BUILD
version_of() { sed -n "s/^  version: '\(.*\)',/\1/p" "$1"; }

# with_leaving FILE: what each package says when it goes, for its line "#LEAVING#".
with_leaving() {
  sed -i -e "/^#LEAVING#/r $package_dir/leaving.sh" -e '/^#LEAVING#/d' "$1"
}

# within RELEASE SECTIONS COMMAND ARGUMENT...: calls this program again with `--inside COMMAND ROOT
# ARGUMENT...`, for a root with these sections of tools/packages. One after another: roots are locked.
within() (
  read -ra wanted <<<"$2"
  root_for "${2// /-}-$1" "$1" "${wanted[@]}"
  unshare --mount --propagation private "$0" --inside "$3" "$root" "${@:4}"
)

# inside ARGUMENT...: what was called by within() becomes COMMAND_inside.
inside() {
  [[ ${1:-} == --inside ]] || return 0
  "${2}_inside" "${@:3}"
  exit
}

# take_output DEFAULT ARGUMENT...: sets `output`, where it is the only option
take_output() {
  output=$PWD/$1
  case $#:${2:-} in
    1:) ;;
    3:--output) output=$(readlink -m "$3") ;;
    *) usage ;;
  esac
}
