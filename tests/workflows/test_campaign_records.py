"""What a rough run leaves behind: no number and no text in histories and logs, and values as the contracts say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from paceline import keys
from paceline.contracts import check
from paceline.contracts.models import STATES, file_name
from sandbox.carrier import Profile
from tests.builders.campaigns import Office, an_office, id_of
from tests.builders.core import phone_number

LEADS = 60
RENEWALS = id_of("renewals")
TEXT = "Hi Ana, your renewal is due."
WEBHOOK = "https://hooks.customer.example/token-of-the-customers"
# Everything that can go wrong does, so that errors and their causes are looked at too.
ROUGH = Profile(throttled=0.05, failing=0.05, silent=0.05, refused=(("21614", 0.05),))


@pytest.fixture(scope="module")
def rough_run() -> Iterator[Office]:
    """A finished campaign that was held, throttled, failed and refused, with a receipt after its report.

    Its customer's server was down at first.
    """
    with an_office(profile=ROUGH, credits=45) as office:
        office.call("PATCH", "/v1/account", {"webhook_url": WEBHOOK})
        office.sandbox.receiver.behave("is_down")
        office.start(LEADS)
        office.passes(minutes=5)
        office.buy(1000)
        office.report()
        undelivered = next(row for row in office.rows("outcomes.csv") if row["outcome"] == "undelivered")
        office.receive(int(undelivered["lead_no"]), "delivered")
        office.passes(minutes=20)
        yield office


def states_of(history: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """Yield (state, "input" or "output", value) for each function that a history's states called."""
    by_id = {event["id"]: event for event in history}

    def state(event: dict[str, Any]) -> str:
        while "stateEnteredEventDetails" not in event:
            event = by_id[event["previousEventId"]]
        return str(event["stateEnteredEventDetails"]["name"])

    for event in history:
        if event["type"] == "TaskScheduled":
            yield state(event), "input", json.loads(event["taskScheduledEventDetails"]["parameters"])["Payload"]
        elif event["type"] in ("TaskSucceeded", "TaskSubmitted"):
            details = event[f"{event['type'][0].lower()}{event['type'][1:]}EventDetails"]
            output = json.loads(details.get("output", "{}"))
            if "Payload" in output:  # of a task with a token, the function's answer is in TaskSubmitted
                yield state(event), "output", output["Payload"]


# -- privacy -------------------------------------------------------------------------------------------------------


def everything_written(office: Office) -> Iterator[tuple[str, str]]:
    """Yield (where, text) of every execution's input, output, cause and history, and of every line logged."""
    for execution, history in office.histories():
        whole = [execution.input, execution.output, execution.cause, history]
        yield execution.name, json.dumps(whole, default=str, ensure_ascii=False)
    yield "the logs", "\n".join([*office.sandbox.logs.lines, *office.sandbox.logs.metrics])


def test_no_phone_number_is_in_any_history_nor_in_the_logs(rough_run: Office) -> None:
    numbers = re.compile("|".join(phone_number(number).removeprefix("+1") for number in range(1, LEADS + 1)))

    for where, text in everything_written(rough_run):
        assert not numbers.search(text), where


def test_no_text_is_in_any_history_nor_in_the_logs(rough_run: Office) -> None:
    for where, text in everything_written(rough_run):
        assert "renewal is due" not in text, where
        assert not re.search(r"\bAna\b", text), where


def test_no_webhooks_address_is_in_any_history_nor_in_the_logs(rough_run: Office) -> None:
    assert len(rough_run.sandbox.receiver.received) == 2
    for where, text in everything_written(rough_run):
        assert "token-of-the-customers" not in text, where


def test_the_logs_say_something(rough_run: Office) -> None:
    logged = [json.loads(line) for line in rough_run.sandbox.logs.lines]

    assert {"ProviderThrottled"} <= {line.get("error") for line in logged}
    assert all(line["campaign_id"] == RENEWALS for line in logged if line.get("error"))


def test_the_table_holds_no_text_and_numbers_only_as_recipients(rough_run: Office) -> None:
    office = rough_run
    numbers = [phone_number(number) for number in range(1, LEADS + 1)]
    partitions = [keys.campaign(RENEWALS)[0], keys.account("acme")[0], keys.route("shared")[0]]
    for number in range(1, 3):
        partitions.append(keys.batch_partition(RENEWALS, f"{number:05}"))
        partitions.append(keys.inbox(keys.message_id(RENEWALS, f"{number:05}", 1), "")[0])

    rows = json.dumps([row for partition in partitions for row in office.table.query(partition)], default=str)

    assert len(rows) > 10_000
    assert TEXT not in rows
    assert not any(number.removeprefix("+1") in rows for number in numbers)


# -- contracts -----------------------------------------------------------------------------------------------------


def test_every_states_input_and_output_fits_its_contract(rough_run: Office) -> None:
    seen: Counter[tuple[str, str]] = Counter()

    for _, history in rough_run.histories():
        for state, side, value in states_of(history):
            check(f"states/{file_name(state)}.{side}", value)
            seen[state, side] += 1

    missing = {(state, side) for state in STATES for side in ("input", "output")} - seen.keys()
    assert missing <= {("Hold Batch", "output")}  # the function's answer to a task with a token is in no history
