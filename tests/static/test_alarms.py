"""The template's alarms and dashboard: each looks at something that there is, and tells an operator what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from paceline.metrics import NAMESPACE, TOLD_BY
from sandbox.deployment import ROOT
from tests.builders.alarms import ALARMS, RESOURCES, Looked, by_alarms, by_widgets, widgets

LOOKED = [*by_alarms(), *by_widgets()]
FUNCTIONS = {name: one["Properties"] for name, one in RESOURCES.items() if one["Type"] == "AWS::Lambda::Function"}
TEMPLATE = (ROOT / "template.yaml").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()

# AWS's own metrics, by what its documentation lists: the names, the dimension, and the type of what that names.
_LAMBDA = ("FunctionName", "AWS::Lambda::Function")
_STATES = ("StateMachineArn", "AWS::StepFunctions::StateMachine")
_TABLE = ("TableName", "AWS::DynamoDB::Table")
AWS_OWN = {
    **{("AWS/Lambda", m): _LAMBDA for m in ("Errors", "Duration", "Throttles", "ConcurrentExecutions")},
    **{("AWS/States", f"Executions{m}"): _STATES for m in ("Started", "Succeeded", "Failed", "TimedOut", "Aborted")},
    ("AWS/States", "ExecutionThrottled"): _STATES,
    **{("AWS/DynamoDB", m): _TABLE for m in ("ReadThrottleEvents", "WriteThrottleEvents", "TransactionConflict")},
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): ("QueueName", "AWS::SQS::Queue"),
}
# Those that AWS tells for the whole account too, without a dimension.
IN_ALL = {("AWS/Lambda", "ConcurrentExecutions")}
# Made by CloudWatch of the lines that Lambda writes: see MemoryUsed in the template.
OF_LAMBDAS_LINES = {"MemoryUsed"}


def is_aws_own(looked: Looked) -> bool:
    known = AWS_OWN.get((looked.namespace, looked.metric))
    if known is None:
        return False
    if not looked.dimensions:
        return (looked.namespace, looked.metric) in IN_ALL
    [(name, value)] = looked.dimensions
    return name == known[0] and RESOURCES[str(value).removeprefix("!")]["Type"] == known[1]


def is_ours(looked: Looked) -> bool:
    told = next((told for metric, told in TOLD_BY.items() if metric == looked.metric), ())
    return looked.names in [{"service", *names} for names in told]


@pytest.mark.parametrize("looked", LOOKED, ids=lambda one: f"{one.by}-{one.metric}-{one.dimensions}")
def test_every_metric_that_is_looked_at_exists(looked: Looked) -> None:
    if looked.namespace != NAMESPACE:
        assert is_aws_own(looked)
    elif looked.metric in OF_LAMBDAS_LINES:
        [(name, size)] = looked.dimensions
        assert name == "memory_size"
        assert int(str(size)) in {properties["MemorySize"] for properties in FUNCTIONS.values()}
    else:
        assert is_ours(looked)


def test_every_metric_of_ours_is_shown() -> None:
    assert {looked.metric for looked in by_widgets()} >= set(TOLD_BY)


def test_the_dashboard_shows_every_function() -> None:
    for metric in ("Errors", "Duration", "Throttles"):
        shown = {value for one in by_widgets() if one.metric == metric for _, value in one.dimensions}
        assert shown == {f"!{name}" for name in FUNCTIONS}


@pytest.mark.parametrize("widget", widgets(), ids=lambda widget: widget["title"])
def test_every_widget_has_a_title_and_a_place(widget: dict[str, Any]) -> None:
    assert widget["region"] == "${AWS::Region}"
    assert len(widget["title"]) > 10


@pytest.mark.parametrize("name", ALARMS)
def test_every_alarm_says_what_it_means_and_what_to_do_and_tells_somebody(name: str) -> None:
    alarm = ALARMS[name]

    assert len(alarm["AlarmDescription"]) > 80
    assert alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert alarm["TreatMissingData"] in ("notBreaching", "ignore")


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_of_several_metrics_watches_one_expression_of_no_more_than_cloudwatch_takes(name: str) -> None:
    metrics = ALARMS[name].get("Metrics", [])
    ids = {one["Id"] for one in metrics}
    used = {word for one in metrics for word in re.findall(r"[a-z]\w*", one.get("Expression", ""))}

    assert len([one for one in metrics if "MetricStat" in one]) <= 10
    assert len([one for one in metrics if "Expression" in one]) <= 10
    assert [one["ReturnData"] for one in metrics].count(True) == (1 if metrics else 0)
    assert used == ids - {one["Id"] for one in metrics if one["ReturnData"]}
    assert all(re.fullmatch(r"[a-z]\w*", one) for one in ids)


def functions_of(name: str, metric: str) -> list[str]:
    """Return the functions of which an alarm looks at a metric."""
    alarmed = [one for one in by_alarms() if (one.by, one.namespace, one.metric) == (name, "AWS/Lambda", metric)]
    return [str(value).removeprefix("!") for one in alarmed for _, value in one.dimensions]


@pytest.mark.parametrize("metric", ["Errors", "Duration", "Throttles"])
def test_every_function_is_in_exactly_one_alarm_on(metric: str) -> None:
    assert sorted(one for name in ALARMS for one in functions_of(name, metric)) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", [name for name in ALARMS if name.endswith("NearTimeout")])
def test_near_its_timeout_is_four_fifths_of_it(name: str) -> None:
    timeouts = {FUNCTIONS[function]["Timeout"] for function in functions_of(name, "Duration")}

    assert {timeout * 800 for timeout in timeouts} == {ALARMS[name]["Threshold"]}


def test_every_size_of_memory_is_watched() -> None:
    watched = {value for one in by_alarms() if one.metric == "MemoryUsed" for _, value in one.dimensions}

    assert watched == {str(properties["MemorySize"]) for properties in FUNCTIONS.values()}


def test_the_used_memory_is_read_from_the_line_that_lambda_ends_an_invocation_with() -> None:
    line = (
        "REPORT RequestId: 3604209a-e9a3-11e6-939a-754dd98c7be3\tDuration: 12.34 ms\tBilled Duration: 13 ms\t"
        "Memory Size: 512 MB\tMax Memory Used: 118 MB\tInit Duration: 900.1 ms\t\nXRAY TraceId: 1-5 Sampled: true"
    )
    pattern = RESOURCES["MemoryUsed"]["Properties"]["FilterPattern"]
    fields = [one.strip() for one in pattern.strip().strip("[]").split(",")]
    read = dict(zip([one.partition("=")[0] for one in fields[:-1]], line.split(), strict=False))
    wanted = {name: value.strip('"') for name, _, value in (one.partition("=") for one in fields) if value}

    assert fields[-1] == "..."
    assert (read["memory_size"], read["used"]) == ("512", "118")
    assert {name: read[name] for name in wanted} == wanted


def test_every_alarm_has_its_row_in_the_operators_document_and_no_other_has() -> None:
    in_order = re.findall(r"^  (\w+):(?: #.*)?\n    Type: AWS::CloudWatch::Alarm$", TEMPLATE, re.M)
    section = OPERATIONS.partition("## When an alarm rings")[2].partition("\n## ")[0]

    assert sorted(in_order) == sorted(ALARMS)
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == in_order
