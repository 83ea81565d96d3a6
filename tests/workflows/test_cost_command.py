"""`paceline cost`: what AWS bills is counted in a run, and each count has a dated price."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from console.cost.campaign import SENDING, Counted, count_campaign
from console.cost.figures import figures_of
from console.cost.prices import prices
from console.cost.story import BATCH, CELL, Story, count_story
from sandbox.carrier import DELIVERED, Profile
from sandbox.operations import PLATFORM_LINES, Operation, Operations
from sandbox.world import Sandbox
from tests.builders.campaigns import a_file

LEADS = 12
# Each message is delivered, and each receipt comes once: `sent`, then `delivered`.
PLAIN = Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0)


def cost(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["cost", *map(str, arguments)])


@pytest.fixture(scope="module")
def leads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cost") / "leads.csv"
    path.write_bytes(a_file(LEADS))
    return path


@pytest.fixture(scope="module")
def counted(leads: Path) -> Counted:
    return count_campaign(leads, 240, profile=PLAIN)


@cache
def story() -> Story:
    return count_story(60)


def of(counted: Counted, operation: Operation) -> Counter[str]:
    return counted.operations.counts[operation]


def test_a_message_is_two_transitions_and_the_rest_is_its_batchs_and_its_campaigns(counted: Counted) -> None:
    states = counted.operations.states

    assert counted.messages == LEADS
    assert states["Wait For Slot"] == states["Send Message"] == LEADS
    assert {name: states[name] for name in ("Send Items", "Close Batch", "Batch Done")} == {
        "Send Items": 1,
        "Close Batch": 1,
        "Batch Done": 1,
    }
    assert {name: states[name] for name in ("Plan Campaign", "Build Report", "Campaign Finished")} == {
        "Plan Campaign": 1,
        "Build Report": 1,
        "Campaign Finished": 1,
    }
    assert of(counted, Operation.TRANSITIONS).total() == states.total()  # nothing was tried again


def test_a_send_writes_five_units_and_a_receipt_two(counted: Counted) -> None:
    written = of(counted, Operation.WRITE_UNITS)

    assert written["send"] == 5 * LEADS  # the claim's transaction of two rows, twice; the record
    assert written["callbacks"] == 2 * 2 * LEADS  # of each of two receipts: its raw copy, the message


def test_each_receipt_is_a_request_to_the_api_and_an_invocation(counted: Counted) -> None:
    requests, invocations = of(counted, Operation.HTTP_REQUESTS), of(counted, Operation.LAMBDA_REQUESTS)

    assert requests == {"callbacks": 2 * LEADS, "api": 3}  # the campaign, its upload, its start
    assert invocations["callbacks"] == 2 * LEADS
    assert invocations["authorize"] == invocations["api"] == 3
    assert invocations["send"] == LEADS
    assert invocations["plan"] == invocations["report"] == invocations["publish"] == invocations["close"] == 1


def test_memory_makes_billed_milliseconds_gb_seconds(counted: Counted) -> None:
    gb_seconds, ms = of(counted, Operation.LAMBDA_GB_SECONDS), counted.operations.function_ms

    assert gb_seconds["send"] == pytest.approx(ms["send"] / 1000 * 0.5)
    assert gb_seconds["plan"] == pytest.approx(ms["plan"] / 1000 * 2)


def test_files_events_and_logs_are_counted(counted: Counted) -> None:
    puts = of(counted, Operation.S3_PUTS)

    assert of(counted, Operation.EVENTS) == {"publish": 1}
    assert puts["customer"] == 1
    assert puts["plan"] == 6  # a batch's leads and their index; its stream, streams, batches; the rejects
    assert of(counted, Operation.LOG_GB)["send"] > LEADS * PLATFORM_LINES / 1e9


def test_the_same_seed_gives_the_same_counts(leads: Path, counted: Counted) -> None:
    again = count_campaign(leads, 240, profile=PLAIN)

    assert again.operations.counts == counted.operations.counts


def test_a_state_that_is_tried_again_is_billed_again() -> None:
    with Sandbox() as sandbox:
        operations = Operations.watch(sandbox)
        sandbox.engine._runtime.transitions += 3  # as a Retry counts: no state is entered
        operations.finish()

    assert operations.total(Operation.TRANSITIONS) == 3


def test_every_operation_has_a_price_with_its_source_and_its_date() -> None:
    assert set(prices()) == set(Operation)
    for operation, price in prices().items():
        assert price.price > 0, operation
        assert price.source.startswith("https://aws.amazon.com/"), operation
        assert date(2026, 1, 1) < price.date <= date(2030, 1, 1), operation


def test_dollars_are_counts_times_prices_and_the_shares_are_of_the_whole(counted: Counted) -> None:
    figures = figures_of(counted, story())

    for row in figures["operations"]:
        assert row["dollars"] == pytest.approx(row["count"] * row["price"] / row["per"])
        assert row["count"] == pytest.approx(counted.per_1000(Operation(row["operation"])))
    assert sum(row["dollars"] for row in figures["operations"]) == pytest.approx(figures["dollars"])
    assert sum(row["share"] for row in figures["operations"]) == pytest.approx(1)
    assert {row["operation"] for row in figures["operations"]} == set(counted.operations.counts)


def test_the_json_keeps_its_shape(leads: Path) -> None:
    done = cost("--leads", leads, "--json")

    figures: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == 0
    assert {name: set(figures[name]) for name in ("campaign", "sending")} == {
        "campaign": {"leads", "parts_per_minute", "messages"},
        "sending": {
            "ours",
            "ours_dollars",
            "story",
            "story_dollars",
            "story_sends",
            "story_asleep_dollars",
            "story_assumes",
        },
    }
    assert set(figures) == {
        "schema",
        "region",
        "prices_dated",
        "campaign",
        "operations",
        "dollars",
        "by_function",
        "sending",
        "cheaper",
        "not_in_it",
    }
    assert figures["schema"] == 1
    for row in figures["operations"]:
        assert set(row) == {"operation", "name", "count", "price", "per", "dollars", "share", "modelled"}
    for change in figures["cheaper"]:
        assert set(change) == {"change", "saves", "leaves", "gives_up"}


def test_the_storys_send_pays_for_every_try_of_its_transaction() -> None:
    told = story()

    reads, writes = (
        told.per_1000[operation] * told.sends / 1000 for operation in (Operation.READ_UNITS, Operation.WRITE_UNITS)
    )
    tries_by_reads, tries_by_writes = (
        reads / 2,
        (writes - told.sends) / 8,
    )  # two rows read; four written, twice; the record
    assert abs(tries_by_reads - tries_by_writes) <= CELL.workers  # those under way at the end
    assert tries_by_writes / told.sends > 3
    assert told.per_1000[Operation.SQS_REQUESTS] == pytest.approx(1000 * (1 + 2 / BATCH))


def test_ours_and_the_storys_are_compared_by_the_same_way_only(counted: Counted) -> None:
    sending = figures_of(counted, story())["sending"]

    assert "callbacks" not in SENDING
    assert sending["ours"]["dynamodb_write_units"] < sending["story"]["dynamodb_write_units"] / 3
    assert sending["ours"]["lambda_gb_seconds"] < sending["story"]["lambda_gb_seconds"] / 10
    assert sending["ours"]["http_api_requests"] == 0


def test_what_would_halve_it_is_computed_from_the_counts(counted: Counted) -> None:
    figures = figures_of(counted, story())

    express = next(change for change in figures["cheaper"] if "Express" in change["change"])
    a_message = 2 * prices()[Operation.TRANSITIONS].of(1000)
    assert express["saves"] == pytest.approx(a_message, rel=0.02)
    assert express["leaves"] == pytest.approx(figures["dollars"] - express["saves"])
    assert [change["saves"] for change in figures["cheaper"]] == sorted(
        (change["saves"] for change in figures["cheaper"]), reverse=True
    )


def test_a_person_sees_the_total_the_comparison_and_what_is_not_in_it(leads: Path) -> None:
    shown = cost("--leads", leads).stdout

    assert "Step Functions, transitions" in shown
    assert "what the provider asks for a message" in shown
    assert "Gives up:" in shown
    assert f"{LEADS} messages of leads.csv at 240 parts a minute" in shown


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "cannot be read", id="no such file"),
        pytest.param(b"name\nAda\n", "phone", id="no numbers in it"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "leads.csv"
    if content is not None:
        path.write_bytes(content)

    done = cost("--leads", path)

    assert done.exit_code == 2
    assert says in done.stderr
