#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No notes to self, and no path of anybody's workplace."""
import pathlib
import re

import lint

# Written in pieces so that this file does not complain about itself.
NOTES = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")
PLACES = re.compile(
    "|".join((r"(?<![\w.-])/wo" + r"rk/(main|shared|w)\b", r"\.\./sha" + "red", r"\.\./capt" + "ures",
              r"\.\./v" + r"m/", r"/tm" + r"p/w/", r"/hom" + r"e/[a-z]", r"node-v" + r"m\.md"))
)


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in lint.files(root):
        if path.name == "LICENSE":
            continue
        for number, line in enumerate(lint.text(path).splitlines(), 1):
            where = f"{path.relative_to(root)}:{number}"
            if not lint.is_data(path, root) and (found := NOTES.search(line)):
                complaints.append(f"{where}: '{found[0]}': do it, or open an issue")
            if found := PLACES.search(line):
                complaints.append(f"{where}: '{found[0]}' exists on one machine only")
    return complaints


FIXTURES = [
    ({"lib/a.cpp": "// the directory /var/wo" + "rk/main is fine\n"}, 0),
    ({"lib/a.cpp": "// TO" + "DO: later\n", "docs/b.md": "see ../sha" + "red/design\n"}, 2),
    ({"tests/data/x": "cwd=/wo" + "rk/main\n"}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
