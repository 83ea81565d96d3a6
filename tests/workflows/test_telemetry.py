"""What a whole run tells operators, and what it does not: metrics as the alarms look at them, ids, and no person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from paceline.metrics import NAMESPACE
from tests.builders.alarms import Looked, by_alarms, by_widgets
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, id_of
from tests.builders.core import phone_number
from tests.builders.eventful_run import NAME, PEOPLE, TEXT, TOKEN, an_eventful_run
from tests.builders.everything import NUMBER
from tests.builders.library_logs import everything_logged

KEYS = [key[-20:] for key in (OPERATOR, CUSTOMER)]
SECRETS = ("sandbox-1", "pepper-of-the-sandbox", "webhook-master-of", "whsec_", TOKEN, *KEYS)
SPELLINGS = "{a}{b}{c}", "{a}-{b}-{c}", "({a}) {b}-{c}", "{a}.{b}.{c}", "{a} {b} {c}", "{b}{c}", "{b}-{c}"


@pytest.fixture(scope="module")
def library_lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def office(library_lines: list[str]) -> Iterator[Office]:
    """A run in which everything happens that an alarm is for, at log level DEBUG."""
    with everything_logged(library_lines), an_eventful_run() as office:
        yield office


# -- metrics -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told(office: Office) -> set[tuple[str, frozenset[tuple[str, str]]]]:
    """Every metric that was told, with its dimensions, as CloudWatch reads the lines."""
    found = set()
    for line in map(json.loads, office.sandbox.logs.metrics):
        for directive in line["_aws"]["CloudWatchMetrics"]:
            assert directive["Namespace"] == NAMESPACE
            for metric in directive["Metrics"]:
                for names in directive["Dimensions"]:
                    found.add((metric["Name"], frozenset((name, line[name]) for name in names)))
    return found


def is_told(looked: Looked, told: set[tuple[str, frozenset[tuple[str, str]]]]) -> bool:
    return any(
        metric == looked.metric
        and {name for name, _ in dimensions} == looked.names
        and all(value in (None, dict(dimensions)[name]) for name, value in looked.dimensions)
        for metric, dimensions in told
    )


OURS = [one for one in (*by_alarms(), *by_widgets()) if one.namespace == NAMESPACE and one.metric != "MemoryUsed"]


@pytest.mark.parametrize("looked", OURS, ids=lambda one: f"{one.by}-{one.metric}-{one.dimensions}")
def test_what_an_alarm_or_a_widget_looks_at_is_told_so(looked: Looked, told: Any) -> None:
    assert is_told(looked, told)


def test_nothing_is_told_by_a_campaign_or_a_person(told: Any) -> None:
    assert {name for _, dimensions in told for name, _ in dimensions} == {
        "service",
        "route",
        "outcome",
        "cause",
        "function",
        "reason",
    }


def test_each_way_in_which_a_callback_is_not_taken_is_told(told: Any) -> None:
    reasons = {dict(dimensions).get("reason") for metric, dimensions in told if metric == "CallbacksRefused"}

    assert reasons == {"not_signed", "malformed", "failed", None}


def test_parts_are_told_as_the_carrier_took_them(office: Office) -> None:
    lines = [json.loads(line) for line in office.sandbox.logs.metrics]
    told = sum(sum(line["Parts"]) for line in lines if "Parts" in line)
    unseen = 1  # the carrier took it and never answered: nobody knew

    assert told == office.sent - unseen


def test_a_send_that_nothing_befalls_writes_one_line(office: Office) -> None:
    by_lead: dict[int, list[Any]] = {}
    for line in map(json.loads, office.sandbox.logs.metrics):
        if line.get("campaign_id") == id_of("renewals") and "lead_no" in line:
            by_lead.setdefault(line["lead_no"], []).append(line)
    at_once = [lines for lines in by_lead.values() if [one.get("outcome") for one in lines] == ["sent"]]

    assert len(at_once) > 5
    assert all((line["Sends"], line["Parts"]) == ([1.0], [1.0]) for [line] in at_once)


def test_numbers_have_their_campaign_beside_them(office: Office) -> None:
    lines = [json.loads(line) for line in office.sandbox.logs.metrics]
    short = [line["campaign_id"] for line in lines if "CreditsShort" in line]
    overdue = [line["campaign_id"] for line in lines if sum(line.get("ReceiptsOverdue", []))]

    assert short[0] == id_of("renewals")
    assert set(overdue) == {id_of("renewals")}


# -- the log -----------------------------------------------------------------------------------------------------------


def test_every_line_of_a_step_has_the_ids_that_its_event_has(office: Office) -> None:
    lines = [json.loads(line) for line in office.sandbox.logs.lines]
    steps = [line for line in lines if line["function"] not in ("api", "authorize", "callbacks", "provider_events")]

    assert {line["function"] for line in steps} >= {"admit", "send", "close", "reconcile", "notify"}
    assert [line for line in steps if not line.get("campaign_id")] == []
    assert [line for line in steps if line["function"] in ("admit", "send", "close") and not line.get("route")] == []
    assert [line for line in steps if line["function"] == "send" and not line.get("batch_id")] == []


def test_no_line_has_the_ids_of_another_invocation(office: Office) -> None:
    lines = [json.loads(line) for line in [*office.sandbox.logs.lines, *office.sandbox.logs.metrics]]

    assert [line for line in lines if line.get("function") == "authorize" and "campaign_id" in line] == []
    assert [line for line in lines if line.get("function") in ("plan", "notify") and "batch_id" in line] == []


def everything_told(office: Office, library_lines: list[str]) -> list[str]:
    logs = office.sandbox.logs
    return [*logs.lines, *(re.sub(r'"Timestamp":\d+', "", line) for line in logs.metrics), *library_lines]


def spelled(number: str) -> Iterator[str]:
    """Yield a number in every way that people write it, its last seven digits too."""
    digits = number.removeprefix("+1")
    for form in SPELLINGS:
        yield form.format(a=digits[:3], b=digits[3:6], c=digits[6:])


def test_no_log_of_the_whole_run_has_a_persons_number(office: Office, library_lines: list[str]) -> None:
    logs = "\n".join(everything_told(office, library_lines))

    assert len(office.sandbox.functions.usage) == len(  # every function ran
        [use for use in office.sandbox.functions.usage.values() if use.invocations]
    )
    for number in [*map(phone_number, PEOPLE), NUMBER, "+12025550198"]:
        assert [form for form in spelled(number) if form in logs] == [], number


def test_no_log_of_the_whole_run_has_a_text_a_name_or_a_secret(office: Office, library_lines: list[str]) -> None:
    logs = "\n".join(everything_told(office, library_lines))

    for private in (TEXT, "renewal", *SECRETS):
        assert private not in logs.replace(id_of("renewals"), ""), private
    assert not re.search(rf"\b{NAME}\b", logs)


def test_functions_print_nothing(office: Office, capsys: pytest.CaptureFixture[str]) -> None:
    office.start(2, "printed")
    office.passes(minutes=5)

    assert capsys.readouterr() == ("", "")
