#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The completions of bash and zsh offer every verb and option of cgctl, and no others.

usage: completion_test.py CGCTL COMPLETION_DIR
"""
import pathlib
import re
import subprocess
import sys

from man_test import help_of, options_of, verbs_of


def offered_in_bash(script: pathlib.Path, words: str) -> set[str]:
    """What bash would offer behind these words."""
    ask = (f'. {script}; COMP_WORDS=({words} ""); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); '
           'COMP_WORDS[COMP_CWORD]=$LAST; _cgctl; printf "%s\\n" "${COMPREPLY[@]}"')
    found = set()
    for last in ("", "-"):
        done = subprocess.run(["bash", "-c", ask], check=True, capture_output=True, text=True,
                              env={"LAST": last, "PATH": "/usr/bin:/bin"})
        found |= set(done.stdout.split())
    return found


def check(program: str, bash: pathlib.Path, zsh: str) -> list[str]:
    top = help_of(program)
    verbs, common = verbs_of(top), options_of(top)
    complaints = []
    at_start = offered_in_bash(bash, "cgctl")
    if at_start != set(verbs) | {f"--{one}" for one in common}:
        complaints.append(f"bash: {at_start ^ (set(verbs) | {f'--{o}' for o in common})}")
    for verb in verbs:
        wanted = {f"--{one}" for one in options_of(help_of(program, verb)) | common}
        behind = {one for one in offered_in_bash(bash, f"cgctl {verb}") if one.startswith("--")}
        if behind != wanted:
            complaints.append(f"bash: {verb}: {sorted(behind ^ wanted)}")
        if f"'{verb}:" not in zsh:
            complaints.append(f"zsh: no {verb}")
        complaints += [f"zsh: no {one}" for one in wanted if f"{one}[" not in zsh
                       and f"{one}:" not in zsh]
    known = set(verbs)
    complaints += [f"zsh: {one} is no verb"
                   for one in re.findall(r"^    '([a-z-]+):", zsh, re.MULTILINE)
                   if one not in known]
    return complaints


def main() -> int:
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    zsh = (folder / "_cgctl").read_text(encoding="utf-8")
    complaints = check(program, folder / "cgctl", zsh)
    # An option less must be missed.
    if not check(program, folder / "cgctl", zsh.replace("--failing[", "--fading[")):
        complaints.append("self-test: a wrong completion was accepted")
    print("\n".join(complaints) or "the completions are complete")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
