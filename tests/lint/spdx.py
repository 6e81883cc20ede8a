#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that can carry a comment names its licence in its first lines."""
import pathlib

import lint

LINE = "SPDX-License-Identifier: Apache-2.0"
HEAD_LINES = 5  # behind a script's #! or an XML declaration and doctype
COMMENTLESS = {"LICENSE"}
COMMENTLESS_PATHS = {"tools/package/debian/copyright", "tools/package/debian/source/format"}
COMMENTLESS_SUFFIXES = {".json", ".bin", ".txt", ".bz2", ".gz"}


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in lint.files(root):
        if path.name in COMMENTLESS or path.suffix in COMMENTLESS_SUFFIXES:
            continue
        if str(path.relative_to(root)) in COMMENTLESS_PATHS:
            continue
        if lint.is_data(path, root):
            continue
        if LINE not in "\n".join(lint.text(path).splitlines()[:HEAD_LINES]):
            complaints.append(f"{path.relative_to(root)}: '{LINE}' is not in its first lines")
    return complaints


FIXTURES = [
    ({"lib/a.cpp": f"// {LINE}\n", "tools/x": f"#!/bin/sh\n# {LINE}\n", "LICENSE": "text"}, 0),
    ({"tests/data/capture": "as found\n", "tests/data/a.json": "{}"}, 0),
    ({"lib/a.cpp": "int x;\n"}, 1),
    ({"docs/a.md": "# Title\n", "README.md": "# Title\n", "lib/meson.build": ""}, 3),
    ({"lib/a.cpp": "// 1\n// 2\n// 3\n// 4\n// 5\n// " + LINE}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
