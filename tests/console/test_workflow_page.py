"""What a page has of the workflow before any script ran: data, a table, and what the numbers are worth."""

from __future__ import annotations

import json
import re

from console.web.rendering import _ENVIRONMENT
from console.workflow.counts import Counts, StateCount
from tests.builders.workflow import BATCHES, ITEMS, some_counts, the_graph

USE = '{% from "_workflow.html" import workflow with context %}{{ workflow(graph, counts, "/executions/one") }}'


def page_of(counts: Counts | None) -> str:
    return _ENVIRONMENT.from_string(USE).render(graph=the_graph(), counts=counts, zone=None)


def test_the_table_has_every_state_with_its_numbers() -> None:
    page = page_of(some_counts({"Plan Campaign": StateCount(succeeded=1), f"{ITEMS}/Wait For Slot": StateCount(1234)}))

    rows = re.findall(r"<tr>\s*<td>.*?</tr>", page, re.DOTALL)
    slots = next(row for row in rows if ">Wait For Slot<" in row)
    sent = next(row for row in rows if ">Send Message<" in row)
    assert len(rows) == len(the_graph().nodes)
    assert 'href="/executions/one?state=Wait%20For%20Slot"' in slots
    assert re.findall(r'class="number">([^<]*)<', slots)[0] == "1,234"
    assert re.findall(r'class="number">([^<]*)<', sent) == ["0", "–", "–"]


def test_what_runs_now_is_said_in_words_with_the_most_first() -> None:
    states = {
        f"{BATCHES}/Wait For Turn": StateCount(4),
        f"{ITEMS}/Send Message": StateCount(58),
        BATCHES: StateCount(6),
    }

    said = re.search(r'class="workflow-now">(.*?)</p>', page_of(some_counts(states)), re.DOTALL)

    assert said is not None
    assert " ".join(re.sub(r"<[^>]*>", "", said[1]).split()) == "Now: 58 in Send Message, 4 in Wait For Turn"


def test_the_data_for_the_drawing_are_json_without_a_script() -> None:
    page = page_of(some_counts())

    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    graph, counts = (json.loads(one) for one in data)
    assert len(graph["nodes"]) == len(counts["states"])
    assert page.count("<script") == 2
    assert "style=" not in page
    assert f'id="workflow-{the_graph().key}" data-keep' in page


def test_numbers_that_are_old_or_a_sample_say_so() -> None:
    old = page_of(some_counts(is_behind=True))
    sample = page_of(some_counts(children_running=312, children_counted=200))
    fresh = page_of(some_counts())

    assert "Some numbers are of" in old
    assert "200 of the 312 batches that run" in sample
    assert "workflow-behind" not in fresh
    assert "workflow-sample" not in fresh


def test_before_the_first_look_there_is_the_picture_without_numbers() -> None:
    page = page_of(None)

    assert 'id="workflow-counts">{}</script>' in page
    assert "Send Batches" in page


def test_another_definition_is_another_element() -> None:
    graph = the_graph()

    assert graph.key == the_graph().key
    assert graph.key != type(graph)(graph.nodes[1:], graph.edges).key
