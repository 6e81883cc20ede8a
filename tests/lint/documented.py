#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program offers stands in its man pages, and the other way round.

usage: documented.py ROOT DAEMON EXPORTER
"""
import argparse
import pathlib
import re
import subprocess
import sys

import lint

MAN = "docs/man"


def options_of(text: str) -> set[str]:
    """Long options in a help text, or in a man page, where mdoc writes `Fl -name`."""
    return set(re.findall(r"(?:(?<![\w-])--|\bFl -)([a-z][a-z-]+)", text))


def sample_keys(text: str) -> set[str]:
    """'table.key' of every key of the sample, commented out or not; handler names are NAME."""
    table, found = "", set()
    for line in text.splitlines():
        line = line.lstrip("# ").strip()
        if header := re.fullmatch(r"\[([\w.-]+)\]", line):
            table = re.sub(r"^overhead\.handlers\..*", "overhead.handlers.NAME", header[1]) + "."
        elif key := re.match(r"([a-z_0-9]+)\s*=", line):
            found.add(table + key[1])
    return found


def page_keys(text: str) -> set[str]:
    """The same of kata-cgroupd.toml(5)."""
    table, found = "", set()
    for line in text.split(".Sh EXAMPLES")[0].splitlines():
        if header := re.fullmatch(r"\.Sh TABLE \\&\[([\w.-]+)\]", line):
            table = header[1] + "."
        elif key := re.match(r"\.It Li ([a-z_0-9]+)", line):
            found.add(table + key[1])
    return found


def source_conditions(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r'"([A-Z]\w+)",\s*Severity::(\w+)', text))


def source_statuses(text: str) -> set[str]:
    """Exit statuses are named constants of the program's main file and of its options."""
    return {"0"} | set(re.findall(r"^constexpr int k\w+ = (\d+);", text, re.MULTILINE))


def differences(what: str, offered: set, written: set) -> lint.Complaints:
    return [f"{what}: {item} is not documented" for item in sorted(offered - written)] + [
        f"{what}: {item} is documented but does not exist" for item in sorted(written - offered)
    ]


def source_metrics(text: str) -> set[str]:
    return set(re.findall(r'"(kata_(?:cgroupd|sandbox)_\w+)"', text))


def check_exporter(root: pathlib.Path, help_text: str) -> lint.Complaints:
    page = lint.text(root / MAN / "kata-cgroup-exporter.8")
    metrics = source_metrics(lint.text(root / "tools/cgctl/metrics/families.cpp"))
    rules = set(re.findall(r"kata_(?:cgroupd|sandbox)_\w+", lint.text(
        root / "docs/monitoring/alerts.yml") + lint.text(root / "docs/monitoring/dashboard.json")))
    return (
        differences("option of the exporter", options_of(help_text), options_of(page))
        + differences("exit status of the exporter",
                      source_statuses(lint.text(root / "tools/exporter/main.cpp") +
                                      lint.text(root / "tools/exporter/options.cpp")),
                      set(re.findall(r"^\.It (\d+)", page, re.MULTILINE)))
        + differences("metric", metrics, set(re.findall(
            r"^\| `(kata_\w+)` \|", lint.text(root / "docs/monitoring/README.md"), re.MULTILINE)))
        + [f"docs/monitoring: there is no metric {one}" for one in sorted(rules)
           if re.sub("_bucket$", "", one) not in metrics]
    )


def check(root: pathlib.Path, help_text: str) -> lint.Complaints:
    daemon_page = lint.text(root / MAN / "kata-cgroupd.8")
    status_section = daemon_page.split(".Sh EXIT STATUS")[1].split(".Sh ")[0]
    conditions = source_conditions(lint.text(root / "lib/model/condition.cpp"))
    statuses = source_statuses(
        lint.text(root / "daemon/main.cpp") + lint.text(root / "daemon/options.cpp")
    )
    return (
        differences("option", options_of(help_text), options_of(daemon_page))
        + differences(
            "configuration key",
            sample_keys(lint.text(root / "systemd/config.toml")),
            page_keys(lint.text(root / MAN / "kata-cgroupd.toml.5")),
        )
        + differences(
            "condition in the man page",
            conditions,
            set(re.findall(r"^\.It Sy (\w+) Pq (\w+)", lint.text(
                root / MAN / "kata-cgroupd-conditions.7"), re.MULTILINE)),
        )
        + differences(
            "condition in docs/conditions.md",
            conditions,
            set(re.findall(r"^\| `(\w+)` \| (\w+) \|", lint.text(root / "docs/conditions.md"),
                           re.MULTILINE)),
        )
        + differences(
            "exit status", statuses, set(re.findall(r"^\.It (\d+)", status_section, re.MULTILINE))
        )
    )


def prove() -> lint.Complaints:
    """The readers above see what they should."""
    expectations = [
        (options_of("  --config FILE\n  -h,--help"), {"config", "help"}),
        (options_of(".It Fl h , Fl -help\n.It Fl -bus Ar X\n"), {"help", "bus"}),
        (sample_keys('#mode = "x"\n[a]\n# b = 1\n[overhead.handlers.kata]\n#mib = 3\n'),
         {"mode", "a.b", "overhead.handlers.NAME.mib"}),
        (page_keys(".It Li mode Bq\n.Sh TABLE \\&[a]\n.It Li b\n.Sh EXAMPLES\n.It Li c\n"),
         {"mode", "a.b"}),
        (source_conditions('"TooBad", Severity::error,'), {("TooBad", "error")}),
        (source_statuses("constexpr int kFailed = 1;\nconstexpr int kBad = 78;  // x"), {"0", "1", "78"}),
        (source_metrics('Family up{"kata_cgroupd_up", "Whether'), {"kata_cgroupd_up"}),
        (set(differences("x", {1, 2}, {2, 3})),
         {"x: 1 is not documented", "x: 3 is documented but does not exist"}),
    ]
    return [f"self-test: {got} is not {want}" for got, want in expectations if got != want]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("daemon", type=pathlib.Path)
    parser.add_argument("exporter", type=pathlib.Path)
    args = parser.parse_args()
    root = args.root.resolve()
    helps = [subprocess.run([one, "--help"], check=True, capture_output=True, text=True).stdout
             for one in (args.daemon, args.exporter)]
    complaints = prove() or check(root, helps[0]) + check_exporter(root, helps[1])
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
