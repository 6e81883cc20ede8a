#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""groff has nothing to complain about in any man page, and each has a name and a section."""
import pathlib
import re
import subprocess

import lint


def warnings(page: pathlib.Path) -> str:
    done = subprocess.run(
        ["man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    if done.returncode != 0 and not done.stderr:
        return f"man ended with {done.returncode}"
    return done.stderr.strip()


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for page in lint.files(root, folders=("docs/man",)):
        if page.parent.name != "man":
            continue
        name, section = page.name.rsplit(".", 1)
        if found := warnings(page):
            complaints.append(f"{page.relative_to(root)}: {found}")
        title = re.search(r"^\.(?:Dt|TH) (\S+) (\d)", lint.text(page), re.MULTILINE)
        if title is None or (title[1].lower(), title[2]) != (name, section):
            complaints.append(f"{page.relative_to(root)}: its title is not '{name.upper()} {section}'")
    return complaints


GOOD = ".Dd November 20, 2026\n.Dt X 8\n.Os\n.Sh NAME\n.Nm x\n.Nd does\n"
FIXTURES = [
    ({"docs/man/x.8": GOOD}, 0),
    ({"docs/man/x.8": GOOD + ".Nonsense\n"}, 1),
    ({"docs/man/y.8": GOOD}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
