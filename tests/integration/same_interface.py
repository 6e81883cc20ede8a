#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the interfaces of a source XML with what an object says of itself.

usage: same_interface.py SOURCE.xml INTROSPECTED.xml
"""
import sys
import xml.etree.ElementTree as ET

# Not said on the bus: Async concerns only the code generator, a property announces its changes by
# default, and privileges are checked by us and not by the library.
UNSAID = {
    ("org.freedesktop.systemd1.Privileged", "true"),
    ("org.freedesktop.DBus.Method.Async", "server"),
    ("org.freedesktop.DBus.Property.EmitsChangedSignal", "true"),
}


def annotations(member: ET.Element) -> frozenset:
    return frozenset((a.get("name"), a.get("value")) for a in member.findall("annotation")) - UNSAID


def arguments(member: ET.Element) -> tuple:
    default = "in" if member.tag == "method" else "out"
    return tuple((a.get("name"), a.get("type"), a.get("direction", default))
                 for a in member.findall("arg"))


def members(interface: ET.Element) -> dict:
    return {(m.tag, m.get("name")): (arguments(m), m.get("type"), m.get("access"), annotations(m))
            for m in interface if m.tag != "annotation"}


def interfaces(path: str) -> dict:
    return {i.get("name"): members(i) for i in ET.parse(path).getroot().findall("interface")}


def main() -> int:
    source, said = interfaces(sys.argv[1]), interfaces(sys.argv[2])
    wrong = [] if source else ["the source has no interface"]
    for name, wanted in source.items():
        found = said.get(name, {})
        wrong += [f"{name}: {key}: {wanted.get(key)} in the source, {found.get(key)} on the bus"
                  for key in sorted(wanted.keys() | found.keys()) if wanted.get(key) != found.get(key)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
