#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/monitoring has is what Prometheus and Grafana take, and each alert is seen to fire.

No Grafana runs here: a schema has the fields that it needs of its JSON model (dashboard, panels,
targets, templating) at schemaVersion 38, and what no schema can say is looked at behind it.
"""
import json
import pathlib
import re
import subprocess
import tempfile

import jsonschema

import lint

DASHBOARD = "docs/monitoring/dashboard.json"
ALERTS = "docs/monitoring/alerts.yml"
TEST = "tests/live/live_metrics.cpp"
COLUMNS = 24
TEXT = {"type": "string", "minLength": 1}
WHOLE = {"type": "integer", "minimum": 0}
SOURCE = {"type": "object", "additionalProperties": False, "required": ["type", "uid"],
          "properties": {"type": {"const": "prometheus"}, "uid": {"const": "${datasource}"}}}
TARGET = {"type": "object", "additionalProperties": False, "required": ["datasource", "expr", "refId"],
          "properties": {"datasource": SOURCE, "expr": TEXT, "legendFormat": {"type": "string"},
                         "refId": {"type": "string", "pattern": "^[A-Z]$"},
                         "format": {"enum": ["time_series", "table", "heatmap"]},
                         "instant": {"type": "boolean"}, "range": {"type": "boolean"}}}
PANEL = {"type": "object", "required": ["id", "type", "title", "gridPos", "datasource", "targets"],
         "additionalProperties": False,
         "properties": {
             "id": WHOLE, "title": TEXT, "description": {"type": "string"}, "datasource": SOURCE,
             "type": {"enum": ["stat", "timeseries", "table", "gauge", "bargauge", "heatmap"]},
             "gridPos": {"type": "object", "required": ["x", "y", "w", "h"],
                         "additionalProperties": False,
                         "properties": {"x": WHOLE, "y": WHOLE, "w": {"type": "integer", "minimum": 1},
                                        "h": {"type": "integer", "minimum": 1}}},
             "fieldConfig": {"type": "object", "required": ["defaults", "overrides"],
                             "properties": {"defaults": {"type": "object"},
                                            "overrides": {"type": "array"}}},
             "options": {"type": "object"}, "transformations": {"type": "array"},
             "targets": {"type": "array", "minItems": 1, "items": TARGET}}}
SCHEMA = {"type": "object",
          "required": ["title", "uid", "schemaVersion", "time", "templating", "panels"],
          "properties": {
              "title": TEXT, "uid": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$"},
              "schemaVersion": {"const": 38},
              "time": {"type": "object", "required": ["from", "to"]},
              "templating": {"type": "object", "required": ["list"], "properties": {
                  "list": {"type": "array", "items": {"type": "object",
                                                      "required": ["name", "type", "query"]}}}},
              "panels": {"type": "array", "minItems": 1, "items": PANEL}}}


def squares(panel: dict) -> set:
    at = panel["gridPos"]
    return {(x, y) for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])}


def places(panels: list) -> lint.Complaints:
    """Ids are the panels' own, and nobody covers another one."""
    complaints, taken, ids = [], {}, set()
    for panel in panels:
        title = panel["title"]
        if panel["id"] in ids:
            complaints.append(f"panel '{title}': another one has the id {panel['id']}")
        ids.add(panel["id"])
        if panel["gridPos"]["x"] + panel["gridPos"]["w"] > COLUMNS:
            complaints.append(f"panel '{title}': wider than {COLUMNS} columns")
        complaints += [f"panel '{title}' covers '{other}'" for other in sorted(
            {taken[square] for square in squares(panel) if square in taken})]
        taken.update({square: title for square in squares(panel)})
        refs = [target["refId"] for target in panel["targets"]]
        if len(refs) != len(set(refs)):
            complaints.append(f"panel '{title}': two targets with one refId")
    return complaints


def promtool(rules: dict | str) -> lint.Complaints:
    """What Prometheus itself says of rules."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(rules if isinstance(rules, str) else json.dumps(rules))
        file.flush()
        done = subprocess.run(["promtool", "check", "rules", file.name], check=False,
                              capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"promtool: {done.stderr.strip()}"]


def expressions(panels: list) -> lint.Complaints:
    """Grafana's own variables stand for a duration."""
    return promtool({"groups": [{"name": "dashboard", "rules": [
        {"record": f"panel_{panel['id']}_{target['refId']}",
         "expr": re.sub(r"\$__\w+", "5m", target["expr"])}
        for panel in panels for target in panel["targets"]]}]})


def dashboard(text: str) -> lint.Complaints:
    document = json.loads(text)
    wrong = [f"{error.json_path}: {error.message}"
             for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)]
    return wrong or places(document["panels"]) + expressions(document["panels"])


def alerts(text: str, test: str) -> lint.Complaints:
    unseen = set(re.findall(r"- alert: (\w+)", text)) - set(re.findall(r'fires\("(\w+)"\)', test))
    return promtool(text) + [f"{one} fires by no real cause in {TEST}" for one in sorted(unseen)]


def check(root: pathlib.Path) -> lint.Complaints:
    return ([f"{DASHBOARD}: {one}" for one in dashboard(lint.text(root / DASHBOARD))] +
            [f"{ALERTS}: {one}" for one in alerts(lint.text(root / ALERTS), lint.text(root / TEST))])


def tree(change=lambda document: None, alert: str = "Down", expr: str = "up == 0") -> dict:
    """A small page of panels, changed, with one alert that is seen to fire as "Down"."""
    def panel(number: int) -> dict:
        return {"id": number, "type": "stat", "title": f"Panel {number}",
                "gridPos": {"x": 12 * (number - 1), "y": 0, "w": 12, "h": 4},
                "datasource": {"type": "prometheus", "uid": "${datasource}"},
                "targets": [{"datasource": {"type": "prometheus", "uid": "${datasource}"},
                             "expr": "rate(up[$__rate_interval])", "refId": "A"}]}
    document = {"title": "Page", "uid": "page", "schemaVersion": 38, "time": {"from": "1", "to": "2"},
                "templating": {"list": []}, "panels": [panel(1), panel(2)]}
    change(document)
    return {DASHBOARD: json.dumps(document),
            ALERTS: "groups:\n- name: all\n  rules:\n"
                    f"  - alert: {alert}\n    expr: {expr}\n",
            TEST: 'EXPECT_TRUE(fires("Down"));'}


FIXTURES = [
    (tree(), 0),
    (tree(lambda document: document.pop("uid")), 1),
    (tree(lambda document: document["panels"][0].update(type="graph")), 1),
    (tree(lambda document: document["panels"][0]["targets"][0].pop("refId")), 1),
    (tree(lambda document: document["panels"][1].update(id=1)), 1),
    (tree(lambda document: document["panels"][1]["gridPos"].update(x=11)), 1),
    (tree(lambda document: document["panels"][1]["gridPos"].update(x=13)), 1),
    (tree(lambda document: document["panels"][0]["targets"][0].update(expr="rate(up[")), 1),
    (tree(alert="Unseen"), 1),
    (tree(expr="up =="), 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
