"""A definition as a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.workflow.definition import Edge, Graph, graph_of
from console.workflow.wording import condition, function_of

DEFINITION = json.loads((Path(__file__).parents[2] / "statemachines" / "campaign.asl.json").read_text())


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of(DEFINITION)


def test_a_state_is_named_by_the_maps_it_is_in(graph: Graph) -> None:
    node = graph.node("Send Streams/Send Batches/Send Groups/Send Items/Send Message")

    assert (node.name, node.kind, node.function) == ("Send Message", "task", "send")
    assert node.parent == "Send Streams/Send Batches/Send Groups/Send Items"
    assert graph.node("Send Streams/Send Batches").mode == "Distributed"
    assert graph.node(node.parent).mode == "Inline"


def test_every_state_is_there_once_and_every_edge_leads_from_one_to_another(graph: Graph) -> None:
    paths = [node.path for node in graph.nodes]

    assert len(set(paths)) == len(paths)
    assert {edge.target for edge in graph.edges} <= set(paths)
    assert {edge.source for edge in graph.edges} <= {"", *paths}


def test_what_leads_where_is_said_in_words(graph: Graph) -> None:
    inner = "Send Streams/Send Batches"
    items = f"{inner}/Send Groups/Send Items"
    errors = "RateLimited, ProviderThrottled, ProviderMisconfigured, any other error"

    assert Edge(f"{inner}/Admitted?", f"{inner}/Hold Batch", "hold", "choice") in graph.edges
    assert Edge(f"{inner}/Anything Left?", f"{inner}/Batch Done", "else", "choice") in graph.edges
    assert Edge(f"{items}/Send Message", f"{items}/Back To Admission", errors, "error") in graph.edges
    assert Edge("", "Build Failure Report", "a step of the campaign fails", "error") in graph.edges


def test_a_task_that_waits_for_its_token_is_a_wait(graph: Graph) -> None:
    assert graph.node("Send Streams/Send Batches/Hold Batch").kind == "wait"


def test_only_children_without_children_are_leaves(graph: Graph) -> None:
    assert graph.is_in_leaf("Send Streams/Send Batches/Admit Batch")
    assert graph.is_in_leaf("Reconcile Batches/Reconcile Batch")
    assert not graph.is_in_leaf("Send Streams/Send Batches")
    assert not graph.is_in_leaf("Send Streams")
    assert not graph.is_in_leaf("Plan Campaign")


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("${CountOpenFunctionArn}", "count_open"),
        ("arn:aws:lambda:us-east-1:123456789012:function:paceline-CountOpenFunction-H7BMI4AAGXAH", "count_open"),
        ("arn:aws:lambda:us-east-1:123456789012:function:paceline-SendFunction-6B231D2VXSLH:live", "send"),
        ("paceline-SendFunction-6B231D2VXSLH", "send"),
        ("arn:aws:lambda:us-east-1:123456789012:function:somebody-elses", None),
    ],
)
def test_a_function_is_known_as_written_and_as_deployed(name: str, folder: str | None) -> None:
    assert function_of({"Type": "Task", "Parameters": {"FunctionName": name}}) == folder


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"Variable": "$.a.left", "NumericGreaterThan": 0}, "more than 0"),
        ({"Variable": "$.a.is_final", "BooleanEquals": False}, "no"),
        ({"Variable": "$.failure", "IsPresent": True}, "failure"),
        ({"Variable": "$.failure", "IsPresent": False}, "no failure"),
        ({"Not": {"Variable": "$.state", "StringEquals": "open"}}, "not state open"),
        (
            {"Or": [{"Variable": "$.a", "IsPresent": True}, {"Variable": "$.b", "NumericLessThanEquals": 3}]},
            "a or b at most 3",
        ),
        ({"Condition": "{% $left > 0 %}"}, "$left > 0"),
    ],
)
def test_a_condition_is_said_in_words(choice: dict[str, Any], words: str) -> None:
    assert condition({**choice, "Next": "There"}) == words


def test_a_definition_with_the_old_names_and_branches_is_drawn_too() -> None:
    one = {"StartAt": "Say", "States": {"Say": {"Type": "Pass", "End": True}}}
    states = {
        "Each": {"Type": "Map", "Iterator": one, "Next": "Both"},
        "Both": {"Type": "Parallel", "Branches": [one], "End": True},
    }

    graph = graph_of({"StartAt": "Each", "States": states})

    assert [node.path for node in graph.nodes] == ["Each", "Both", "Each/Say", "Both/Say"]
    assert graph.node("Each").mode == "Inline"
