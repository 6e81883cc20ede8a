#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cgctl(1) names every verb, option and exit status of cgctl, and nothing else.

usage: man_test.py CGCTL CGCTL.1
"""
import pathlib
import re
import subprocess
import sys


def help_of(program: str, *verb: str) -> str:
    return subprocess.run([program, *verb, "--help"], check=True, capture_output=True,
                          text=True).stdout


def options_of(help_text: str) -> set[str]:
    return set(re.findall(r"^\s+(?:-[a-z],)?--([a-z][a-z-]+)", help_text, re.MULTILINE))


def verbs_of(help_text: str) -> list[str]:
    return re.findall(r"^  ([a-z-]+) ", help_text.split("Subcommands:")[1], re.MULTILINE)


def statuses_of(help_text: str) -> set[str]:
    return set(re.findall(r"\b(\d) [a-z]", help_text.split("Exit status:")[1]))


def section(page: str, title: str) -> str:
    return page.split(f".Sh {title}\n")[1].split("\n.Sh ")[0]


def page_options(text: str) -> set[str]:
    return set(re.findall(r"^\.It (?:Fl [a-z] , )?Fl -([a-z-]+)", text, re.MULTILINE))


def verb_sections(page: str) -> dict[str, str]:
    parts = re.split(r"^\.Ss ([a-z-]+)$", section(page, "VERBS"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def differences(what: str, offered: set[str], written: set[str]) -> list[str]:
    return ([f"{what}: {one} is not in the man page" for one in sorted(offered - written)]
            + [f"{what}: {one} is in the man page only" for one in sorted(written - offered)])


def check(program: str, page: str) -> list[str]:
    top = help_of(program)
    common = options_of(top)
    sections = verb_sections(page)
    complaints = differences("verb", set(verbs_of(top)), set(sections))
    complaints += differences("option", common, page_options(section(page, "OPTIONS")))
    complaints += differences(
        "exit status", statuses_of(top),
        set(re.findall(r"^\.It (\d)$", section(page, "EXIT STATUS"), re.MULTILINE)))
    for verb in verbs_of(top):
        own = options_of(help_of(program, verb)) - common
        complaints += differences(f"option of {verb}", own, page_options(sections.get(verb, "")))
    return complaints


def main() -> int:
    program, path = sys.argv[1:]
    page = pathlib.Path(path).read_text(encoding="utf-8")
    complaints = check(program, page)
    # Each reader must have seen something, or this test could not fail.
    if not (verbs_of(help_of(program)) and page_options(page) and verb_sections(page)):
        complaints.append("nothing was read")
    # A page without one of the options must be refused.
    if not check(program, page.replace(".It Fl -failing", ".It Fl -fading")):
        complaints.append("self-test: a wrong page was accepted")
    print("\n".join(complaints) or "the man page is complete")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
