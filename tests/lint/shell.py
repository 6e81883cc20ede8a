#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shellcheck has no warning for any shell script."""
import pathlib
import re
import subprocess

import lint

# Scripts in parts share variables, which shellcheck cannot see.
IGNORED = "SC2034,SC2154"


def scripts(root: pathlib.Path) -> list[pathlib.Path]:
    return [
        path
        for path in lint.files(root)
        if not lint.is_data(path, root)
        and (path.suffix == ".sh"
             or (path.suffix == "" and re.match(r"#!.*\b(ba)?sh\b", lint.text(path)[:80])))
    ]


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in scripts(root):
        done = subprocess.run(
            ["shellcheck", "-S", "warning", "-e", IGNORED, "-f", "gcc", str(path)],
            capture_output=True, text=True, check=False,
        )
        if done.returncode != 0:
            complaints.append((done.stdout or done.stderr).replace(f"{root}/", "").strip())
    return complaints


FIXTURES = [
    ({"tools/x": "#!/bin/bash\necho hello\n", "docs/x.md": "`rm $x`"}, 0),
    ({"tools/x": "#!/bin/bash\ncd /tmp\n", "tests/e2e/a.sh": "#!/bin/sh\nrm -rf $1/ $(ls *)\n"}, 2),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
