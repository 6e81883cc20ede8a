#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed for systemd, the journal and the bus is sound.

usage: files_test.py SYSTEMD_DIR UNIT EXPORTER_UNIT CATALOG PAGE
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

PREFIX = "io.katacontainers.CgroupManager1."
PRIVILEGED = "org.freedesktop.systemd1.Privileged"
MOST_EXPOSED = 3.1  # of 10, as systemd-analyze counts


def members_of_xml(folder: pathlib.Path) -> tuple[set, set]:
    """(everybody's, root's) methods."""
    open_to_all, for_root = set(), set()
    for path in (folder / "dbus").glob("*.xml"):
        for interface in ET.parse(path).getroot().findall("interface"):
            for method in interface.findall("method"):
                said = {a.get("name"): a.get("value") for a in method.findall("annotation")}
                kind = for_root if said.get(PRIVILEGED) == "true" else open_to_all
                kind.add((interface.get("name"), method.get("name")))
    return open_to_all, for_root


def policy_complaints(folder: pathlib.Path) -> list[str]:
    open_to_all, for_root = members_of_xml(folder)
    policy = ET.parse(folder / (PREFIX.rstrip(".") + ".conf")).getroot()
    default = policy.find("policy[@context='default']")
    allowed = {(a.get("send_interface"), a.get("send_member")) for a in default.findall("allow")}
    ours = {one for one in allowed if (one[0] or "").startswith(PREFIX)}
    wrong = [f"policy: {one} is not allowed to everybody" for one in sorted(open_to_all - ours)]
    wrong += [f"policy: {one} is allowed to everybody" for one in sorted(ours - open_to_all, key=str)]
    if not for_root or for_root & ours:
        wrong.append("policy: privileged members are open")
    if default.find("deny[@send_destination]") is None or default.find("allow[@own]") is not None:
        wrong.append("policy: it is open by default")
    return wrong


NEEDED = ["Type=notify", "WatchdogSec=", "RuntimeDirectory=kata-cgroupd", "RuntimeDirectoryPreserve=yes"]
NEEDED_OF_EXPORTER = ["Type=notify", "User=kata-cgroup-exporter", "CapabilityBoundingSet=\n", "MemoryMax="]


def unit_complaints(unit: pathlib.Path, needed: list[str]) -> list[str]:
    text = unit.read_text(encoding="utf-8")
    wrong = [f"unit: no {one}" for one in needed if f"\n{one}" not in text]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], check=False,
                          capture_output=True, text=True)
    # The program is not installed where the unit will find it.
    return wrong + [f"unit: {line}" for line in done.stderr.splitlines()
                    if "kata-cgroup" in line and "is not executable" not in line]


def needed_words(name: str) -> list[str]:
    """The alternatives of which one stands for a check: "X=~CAP_(A|B_*)" for instance CAP_A."""
    key, _, value = name.partition("=~")
    if not value:
        return [one for one in key.replace("=", "=/").split("/") if one]
    before, _, choice = value.rstrip(")").partition("(")
    return [before + one.rstrip("*") for one in choice.split("|")]


def exposure_complaints(unit: pathlib.Path) -> list[str]:
    """It is as closed as it was, and the unit says why each thing that is open has to be."""
    analyze = ["systemd-analyze", "security", "--offline=true", "--no-pager"]
    wrong = []
    summary = subprocess.run([*analyze, str(unit)], check=True, capture_output=True, text=True)
    found = re.search(r"exposure level for \S+: ([0-9.]+)", summary.stdout)
    if found is None or float(found[1]) > MOST_EXPOSED:
        wrong.append(f"unit: exposure {found and found[1]}, more than {MOST_EXPOSED}")
    reasons = " ".join(line for line in unit.read_text(encoding="utf-8").splitlines()
                       if line.startswith("#"))
    checks = subprocess.run([*analyze, "--json=short", str(unit)], check=True, capture_output=True,
                            text=True)
    opened = [one["name"] for one in json.loads(checks.stdout)
              if one["set"] is False and one["exposure"] not in (None, "0.0")]
    return wrong + [f"unit: it does not say why {one} is open" for one in opened
                    if not any(word in reasons for word in needed_words(one))] + (
                        [] if opened else ["unit: systemd-analyze finds nothing open at all"])


def catalog_complaints(catalog: pathlib.Path, source: str) -> list[str]:
    ids = re.findall(r'"([0-9a-f]{32})"', source)
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("usr/lib/systemd/catalog", "var/lib/systemd/catalog"):
            (root / folder).mkdir(parents=True)
        (root / "usr/lib/systemd/catalog" / catalog.name).write_bytes(catalog.read_bytes())
        journalctl = ["journalctl", f"--root={root}"]
        subprocess.run([*journalctl, "--update-catalog"], check=True)
        listed = subprocess.run([*journalctl, "--list-catalog"], check=True, capture_output=True,
                                text=True).stdout
    return [f"catalog: {one} is missing" for one in ids if one not in listed] or (
        [] if ids else ["catalog: no message id was found in the source"])


def members_of_page(page: str) -> set[tuple[str, str]]:
    """(interface, member) of each entry."""
    found = set()
    for part in page.split(".Sh INTERFACE ")[1:]:
        interface = part.splitlines()[0]
        found |= {(interface, one) for one in re.findall(r"^\.It Sy (\w+)", part, re.MULTILINE)}
    return found


def page_complaints(folder: pathlib.Path, page: pathlib.Path) -> list[str]:
    """Each member of the API has an entry in the manual page, and those of the manager, who is
    asked first, stand in docs/dbus.md, too. The page's maker refuses what is not described."""
    text = page.read_text(encoding="utf-8")
    done = subprocess.run(["man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)],
                          check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    wrong = [f"page: {line}" for line in done.stderr.splitlines()]
    tour = (folder.parent / "docs/dbus.md").read_text(encoding="utf-8")
    members = set()
    for path in (folder / "dbus").glob("*.xml"):
        for interface in ET.parse(path).getroot().findall("interface"):
            name = interface.get("name")
            own = {one.get("name") for tag in ("method", "signal", "property")
                   for one in interface.findall(tag)}
            members |= {(name, one) for one in own}
            if name.endswith(".Manager"):
                wrong += [f"docs/dbus.md: {one} is not there" for one in sorted(own)
                          if not re.search(rf"\b{one}\b", tour)]
    wrong += [f"page: {one} is not documented" for one in sorted(members - members_of_page(text))]
    with tempfile.TemporaryDirectory() as name:
        bad = pathlib.Path(name) / "bad.xml"
        manager = (folder / f"dbus/{PREFIX}Manager.xml").read_text(encoding="utf-8")
        for old, new in (("      Plan:\n", "      Plans:\n"), ("@adopt: place", "adopt: place"),
                         ("<!-- Mode:", "<!-- Mood:")):
            bad.write_text(manager.replace(old, new), encoding="utf-8")
            made = subprocess.run([folder / "dbus_page.py", str(bad)], check=False,
                                  capture_output=True)
            if made.returncode == 0 or manager.count(old) == 0:
                wrong.append(f"page: its maker takes '{new.strip()}'")
    return wrong or ([] if members else ["page: no member was found in the XML"])


def main() -> int:
    folder, unit, exporter, catalog, page = (pathlib.Path(one) for one in sys.argv[1:])
    source = (folder.parent / "lib/model/condition.cpp").read_text(encoding="utf-8")
    wrong = policy_complaints(folder) + unit_complaints(unit, NEEDED)
    wrong += unit_complaints(exporter, NEEDED_OF_EXPORTER)
    wrong += exposure_complaints(unit) + exposure_complaints(exporter) + catalog_complaints(catalog, source)
    wrong += page_complaints(folder, page)
    print("\n".join(wrong) or "sound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
