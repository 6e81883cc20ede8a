#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the journal's catalog: one entry per condition.

usage: catalog.py CONDITION_CPP CONDITIONS_MD

Names and message ids come from lib/model/condition.cpp, meaning and remedy from docs/conditions.md.
"""
import pathlib
import re
import sys

ENTRY = """-- {id}
Subject: {name} of a Kata sandbox: {meaning}
Defined-By: kata-cgroupd
Documentation: man:kata-cgroupd-conditions(7)

Sandbox @SANDBOX_ID@, severity @SEVERITY@.

{name}: {meaning}.

What to do: {remedy}.

'cgctl show @SANDBOX_ID@' has the numbers, 'cgctl explain @SANDBOX_ID@' where they come from.
"""


def ids(source: str) -> dict[str, str]:
    found = re.findall(r'"([A-Z]\w+)",\s*Severity::\w+,\s*"([0-9a-f]{32})"', source)
    return dict(found)


def plain(markdown: str) -> str:
    """Without links and code marks."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown).replace("`", "").strip().rstrip(".")


def texts(page: str) -> dict[str, tuple[str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| \w+ \| (.*) \| (.*) \|$", page, re.MULTILINE)
    return {name: (plain(meaning), plain(remedy)) for name, meaning, remedy in rows}


def main() -> int:
    source, page = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    known, described = ids(source), texts(page)
    if not known or set(known) != set(described):
        print(f"conditions differ: {sorted(set(known) ^ set(described))}", file=sys.stderr)
        return 1
    print("# SPDX-License-Identifier: Apache-2.0\n")
    print("\n".join(ENTRY.format(id=message_id, name=name, meaning=described[name][0],
                                 remedy=described[name][1])
                    for name, message_id in known.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
