"""What the template's alarms and dashboard look at, as CloudWatch would: namespaces, names, dimensions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.deployment import REGION, ROOT
from sandbox.template import translate

RESOURCES: dict[str, dict[str, Any]] = translate(ROOT / "template.yaml", REGION)["Resources"]
ALARMS = {name: one["Properties"] for name, one in RESOURCES.items() if one["Type"] == "AWS::CloudWatch::Alarm"}
# {Namespace,dimension,...} MetricName="..." and what more is asked of its dimensions.
SEARCH = re.compile(r"SEARCH\('\{([^}]+)\} MetricName=\"(\w+)\"((?: \w+=\"\w+\")*)', '\w+', \d+\)")


@dataclass(frozen=True)
class Looked:
    """One metric that is looked at. dimensions: a value of None is any. by: the alarm, or the widget's title."""

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str | None], ...]
    by: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.dimensions)


def _value(value: Any) -> str:
    """Return a dimension's value: text, or `!Name` for the resource that it refers to."""
    if isinstance(value, dict) and "Fn::If" in value:  # which table: the stack's own is the last
        value = value["Fn::If"][-1]
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)(\.\w+)?\}", r"!\1", value)
    return "!" + str(value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0])


def _of_stat(metric: dict[str, Any], by: str) -> Looked:
    dimensions = tuple((one["Name"], _value(one["Value"])) for one in metric["Dimensions"])
    return Looked(metric["Namespace"], metric["MetricName"], dimensions, by)


def by_alarms() -> Iterator[Looked]:
    """Yield every metric that an alarm looks at."""
    for name, alarm in ALARMS.items():
        for one in alarm.get("Metrics", ()):
            if "MetricStat" in one:
                yield _of_stat(one["MetricStat"]["Metric"], name)
        if "MetricName" in alarm:
            yield _of_stat(alarm, name)


def widgets() -> list[dict[str, Any]]:
    body, chosen = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    for name, value in chosen.items():
        body = body.replace(f"${{{name}}}", f"${{{_value(value).removeprefix('!')}}}")
    return [one["properties"] for one in json.loads(body)["widgets"]]


def by_widgets() -> Iterator[Looked]:
    """Yield every metric that a widget of the dashboard shows, or searches for."""
    for widget in widgets():
        for row in widget["metrics"]:
            yield _searched(row[0], widget["title"]) if isinstance(row[0], dict) else _listed(row, widget["title"])


def _searched(row: dict[str, Any], by: str) -> Looked:
    found = SEARCH.fullmatch(row["expression"])
    assert found is not None, row
    namespace, *names = found[1].split(",")
    wanted = dict(re.findall(r'(\w+)="(\w+)"', found[3]))
    return Looked(namespace, found[2], tuple((name, wanted.get(name)) for name in names), by)


def _listed(row: list[Any], by: str) -> Looked:
    namespace, metric, *rest = [one for one in row if isinstance(one, str)]
    return Looked(namespace, metric, tuple(zip(rest[::2], map(_value, rest[1::2]), strict=True)), by)
