#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/run-tests and tools/check count truly, and their exit status says the same.

usage: counting.py ROOT

Each way for a test to end, against the expected counts: meson is replaced by a program that lists
one made-up test; the test is a shell script. And each way for tools/check to end, with what it
calls replaced by shell scripts.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CASES = {"testsuites": [{"name": "S", "testsuite": [
    {"name": "good", "result": "COMPLETED"},
    {"name": "better", "result": "COMPLETED"},
    {"name": "bad", "result": "COMPLETED", "failures": [{"failure": "1 is not 2"}]},
    {"name": "off", "result": "SUPPRESSED"},
    {"name": "cannot", "result": "SKIPPED"},
]}], "tests": 5}
GOOD_CASES = {"testsuites": [{"name": "S", "testsuite": CASES["testsuites"][0]["testsuite"][:2]}],
              "tests": 2}
NO_CASES = {"testsuites": [], "tests": 0}


def writes(cases: dict) -> str:
    """What a GoogleTest executable does with $GTEST_OUTPUT."""
    return f"cat >\"${{GTEST_OUTPUT#json:}}\" <<'END'\n{json.dumps(cases)}\nEND\n"


REPORT = 'report=${ASAN_OPTIONS##*log_path=}; echo leak >"${report%%:*}.1"\n'
# name: (script, protocol, suite, arguments, CI, (passed, failed, skipped))
TABLE = {
    "good script": ("exit 0", "exitcode", "lint", [], "", (1, 0, 0)),
    "bad script": ("exit 3", "exitcode", "lint", [], "", (0, 1, 0)),
    "skipping script": ("exit 77", "exitcode", "lint", [], "", (0, 0, 1)),
    "crash": ("kill -SEGV $$", "exitcode", "lint", [], "", (0, 1, 0)),
    "time-out": ("read -r x <>/dev/ptmx", "exitcode", "lint", [], "", (0, 1, 0)),
    "cases": (writes(CASES) + "exit 1", "gtest", "unit", [], "", (2, 1, 2)),
    "good cases, bad end": (writes(GOOD_CASES) + "exit 1", "gtest", "unit", [], "", (2, 1, 0)),
    "no result file": ("exit 0", "gtest", "unit", [], "", (0, 1, 0)),
    "no case": (writes(NO_CASES), "gtest", "unit", [], "", (0, 1, 0)),
    "77 is no skip of cases": (writes(GOOD_CASES) + "exit 77", "gtest", "unit", [], "", (2, 1, 0)),
    "live skip": ("exit 77", "exitcode", "live", [], "", (0, 0, 1)),
    "live skip in CI": ("exit 77", "exitcode", "live", [], "true", (0, 1, 0)),
    "unit skip in CI": ("exit 77", "exitcode", "unit", [], "true", (0, 0, 1)),
    "sanitizer report": (REPORT + writes(GOOD_CASES), "gtest", "unit", ["--sanitized"], "", (2, 1, 0)),
    "runs in the build directory": ("test -f list", "exitcode", "lint", [], "", (1, 0, 0)),
    "another suite": ("exit 0", "exitcode", "live", ["--suite", "unit"], "", (0, 1, 0)),
    "excluded suite": ("exit 0", "exitcode", "live", ["--no-suite", "live"], "", (0, 1, 0)),
}


def counted(run_tests: pathlib.Path, row: tuple) -> tuple[tuple[int, ...], bool]:
    """What tools/run-tests tells of the one test of this row."""
    script, protocol, suite, arguments, in_ci, _ = row
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        test = {"name": "made-up", "workdir": None, "timeout": 1, "suite": [f"p:{suite}"],
                "is_parallel": True, "protocol": protocol, "cmd": [f"{name}/test"], "env": {}}
        (scratch / "test").write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        (scratch / "list").write_text(json.dumps([test]), encoding="utf-8")
        (scratch / "meson").write_text(f"#!/bin/sh\ncat {name}/list\n", encoding="utf-8")
        for program in ("test", "meson"):
            (scratch / program).chmod(0o755)
        done = subprocess.run(
            [run_tests, name, *arguments], capture_output=True, text=True, check=False,
            env={"PATH": f"{name}:{os.environ['PATH']}", "CI": in_ci},
        )
    return last_line(done)


def last_line(done: subprocess.CompletedProcess) -> tuple[tuple[int, ...], bool]:
    """The counts of the last line, and whether the exit status agrees with them."""
    last = done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr
    match = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", last)
    if match is None:
        return (), False
    counts = tuple(int(group) for group in match.groups())
    return counts, (done.returncode != 0) == (counts[1] > 0)


# name: (what tools/check calls, and what it runs; arguments; (passed, failed, skipped))
CHECKS = {
    "one stage": ({}, ["format"], (2, 0, 0)),
    "all stages": ({}, [], (7, 0, 0)),
    "packages": ({}, ["package"], (5, 0, 0)),
    "a bad package": ({"tools/package/rpm": "exit 1"}, ["package"], (4, 1, 0)),
    "a bad stage": ({"tools/format": "exit 1"}, ["format", "e2e"], (2, 1, 0)),
    "a bad build": ({"ninja": "exit 1"}, ["gcc", "e2e"], (2, 1, 0)),
    "a bad test": ({"tests/e2e/run": 'echo "failed it" >>"$2"'}, ["e2e"], (1, 1, 0)),
    "nothing can be installed": ({"tools/install-deps": "exit 1"}, ["format"], (0, 1, 0)),
    "a stage that dies": ({"tests/e2e/run": "kill -KILL $$"}, ["e2e"], (1, 1, 0)),
}
WELL = '[[ "$*" != *--summary* ]] || echo "passed $0" >>"${@: -1}"'


def checked(check: pathlib.Path, programs: dict, arguments: list) -> tuple[tuple[int, ...], bool]:
    """What tools/check tells when these programs end like this, and all others well."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("tools/package", "tests/e2e"):
            (root / folder).mkdir(parents=True)
        shutil.copy(check, root / "tools/check")
        called = ("install-deps", "format", "build", "run-tests", "debian", "package/deb",
                  "package/tar", "package/rpm")
        for program in (*(f"tools/{tool}" for tool in called), "tests/e2e/run", "ninja"):
            script = f"#!/bin/bash\n{programs.get(program, WELL)}\n"
            (root / program).write_text(script, encoding="utf-8")
            (root / program).chmod(0o755)
        environment = os.environ | {"PATH": f"{name}:{os.environ['PATH']}"}
        return last_line(subprocess.run([root / "tools/check", *arguments], capture_output=True,
                                        text=True, check=False, env=environment))


def main() -> int:
    check = pathlib.Path(sys.argv[1]).resolve() / "tools/check"
    run_tests = pathlib.Path(sys.argv[1]).resolve() / "tools/run-tests"
    wrong = 0
    for name, row in TABLE.items():
        counts, agrees = counted(run_tests, row)
        if counts != row[-1] or not agrees:
            wrong += 1
            print(f"{name}: counted {counts}, expected {row[-1]}; exit status agrees: {agrees}")
    for name, (programs, arguments, expected) in CHECKS.items():
        counts, agrees = checked(check, programs, arguments)
        if counts != expected or not agrees:
            wrong += 1
            print(f"{name}: counted {counts}, expected {expected}; exit status agrees: {agrees}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
