"""What `observed` adds to a handler: ids on lines, numbers when an invocation ends, nothing left for the next one."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from paceline.adapters.dynamodb import DynamoDBTable
from paceline.errors import RateLimited, RouteNotFound, TransactionConflict
from paceline.ids import ids_of
from paceline.metrics import TOLD_BY, Metric, count
from paceline.observability import identify, identify_message, logger, observed, task
from paceline.requests import CampaignRequest
from paceline.table import Put, TransactionRefused, Update

BATCH = {"campaign_id": "renewals", "batch_id": "00001", "route": "shared", "leads": 40}


@dataclass
class Context:
    aws_request_id: str = "request-1"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    handler: Any = logger.registered_handler
    stream, before = io.StringIO(), handler.stream
    handler.setStream(stream)
    yield stream
    handler.setStream(before)


def lines(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("event", "ids"),
    [
        pytest.param({"campaign_id": "renewals", "look": 3}, {"campaign_id": "renewals"}, id="a campaign's step"),
        pytest.param(
            {"batch": BATCH, "round": 2, "lead_no": 7, "slot": "2026-09-02T16:00:00Z"},
            {"campaign_id": "renewals", "batch_id": "00001", "route": "shared", "round": 2, "lead_no": 7},
            id="a message's",
        ),
        pytest.param(
            {"open": {"batch": BATCH, "open_leads": [1]}, "charging": {}},
            {"campaign_id": "renewals", "batch_id": "00001", "route": "shared"},
            id="a look's",
        ),
        pytest.param({"requestContext": {}, "pathParameters": {"campaign_id": "+12025550101"}}, {}, id="a request"),
        pytest.param({"campaign_id": ["+12025550101"], "batch": "text", "open": [1]}, {}, id="of another form"),
        pytest.param(["+12025550101"], {}, id="no object"),
        pytest.param(None, {}, id="nothing"),
    ],
)
def test_the_ids_of_an_event_are_its_ids_and_nothing_else(event: Any, ids: dict[str, Any]) -> None:
    assert ids_of(event) == ids


def test_a_line_has_the_ids_of_its_own_invocation_only(written: io.StringIO) -> None:
    handler = observed(lambda event, context: logger.info("here"))

    handler({"batch": BATCH, "lead_no": 7}, Context())
    handler({"campaign_id": "second"}, Context("request-2"))

    first, second = lines(written)
    assert (first["campaign_id"], first["batch_id"], first["route"], first["lead_no"]) == (
        "renewals",
        "00001",
        "shared",
        7,
    )
    assert (second["campaign_id"], second["request_id"]) == ("second", "request-2")
    assert not {"batch_id", "route", "lead_no"} & second.keys()


def test_what_is_learnt_in_mid_invocation_is_on_the_lines_that_follow(written: io.StringIO) -> None:
    def handler(event: Any, context: Any) -> None:
        logger.info("before")
        identify(campaign_id="renewals")
        logger.info("after")
        identify_message("spring.00002.5")
        logger.info("a message's")

    observed(handler)({}, Context())

    before, after, message = lines(written)
    assert "campaign_id" not in before
    assert after["campaign_id"] == "renewals"
    assert (message["campaign_id"], message["batch_id"], message["lead_no"]) == ("spring", "00002", 5)


def test_what_is_counted_is_one_line_in_cloudwatchs_form_with_ids_beside_it(written: io.StringIO) -> None:
    def handler(event: Any, context: Any) -> None:
        count(Metric.PARTS, 2, route="shared", outcome="sent")
        count(Metric.PARTS, route="shared", outcome="sent")
        count(Metric.SENDS, route="shared", outcome="sent")

    observed(handler)({"batch": BATCH, "lead_no": 7}, Context())

    [line] = lines(written)
    line["_aws"].pop("Timestamp")
    by = [["service", "route", "outcome"], ["service", "route"]]
    metrics = [{"Name": "Parts", "Unit": "Count"}, {"Name": "Sends", "Unit": "Count"}]
    assert line == {
        "_aws": {"CloudWatchMetrics": [{"Namespace": "Paceline", "Dimensions": by, "Metrics": metrics}]},
        **{"service": "paceline", "route": "shared", "outcome": "sent", "Parts": [3.0], "Sends": [1.0]},
        **{"campaign_id": "renewals", "batch_id": "00001", "lead_no": 7},
    }


def test_where_nothing_was_counted_nothing_is_written(written: io.StringIO) -> None:
    observed(lambda event, context: None)({"batch": BATCH}, Context())

    assert written.getvalue() == ""


def test_outside_an_invocation_counting_does_nothing(written: io.StringIO) -> None:
    count(Metric.CONFLICTS)

    observed(lambda event, context: None)({}, Context())

    assert written.getvalue() == ""


@pytest.mark.parametrize(
    ("error", "is_ordinary"),
    [
        pytest.param(RateLimited("late", cause="slot_missed"), True, id="by which the workflow asks again"),
        pytest.param(TransactionConflict("held"), True, id="a conflict"),
        pytest.param(RouteNotFound("no such route"), False, id="an end"),
        pytest.param(KeyError("+12025550101"), False, id="a fault of ours"),
    ],
)
def test_errors_that_are_meant_are_counted_and_all_leave(
    written: io.StringIO, error: Exception, is_ordinary: bool
) -> None:
    def fails(request: CampaignRequest) -> None:
        raise error

    with pytest.raises(type(error)):
        task(CampaignRequest)(fails)({"campaign_id": "renewals"}, Context())

    told = [line for line in lines(written) if "_aws" in line]
    assert [line["OrdinaryErrors"] for line in told] == ([[1.0]] if is_ordinary else [])
    assert "+12025550101" not in written.getvalue()


class Conflicting:
    """A client of DynamoDB whose every write meets a transaction of somebody else's."""

    def update_item(self, **request: Any) -> None:
        raise ClientError({"Error": {"Code": "TransactionConflictException", "Message": ""}}, "UpdateItem")

    def transact_write_items(self, **request: Any) -> None:
        reasons = [{"Code": "TransactionConflict"}, {"Code": "ConditionalCheckFailed"}]
        error = {"Error": {"Code": "TransactionCanceledException", "Message": ""}, "CancellationReasons": reasons}
        raise ClientError(error, "TransactWriteItems")


def test_a_conflict_is_counted_at_a_write_and_in_a_transaction_also_beside_another_reason(written: io.StringIO) -> None:
    table, put = DynamoDBTable(Conflicting(), "table"), Put({"pk": "a", "sk": "b"})

    def handler(event: Any, context: Any) -> None:
        with pytest.raises(TransactionConflict):
            table.update(Update(("a", "b"), "SET #x = :x", {"x": 1}))
        with pytest.raises(TransactionRefused):
            table.transact([put, put])

    observed(handler)({}, Context())

    [line] = lines(written)
    assert line["Conflicts"] == [2.0]


def test_every_metric_is_told_by_what_its_first_way_knows() -> None:
    assert TOLD_BY.keys() == set(Metric)
    for told in TOLD_BY.values():
        assert all(set(names) < set(told[0]) for names in told[1:])
