"""A little of `bench/load.py`: what it asks and looks at must be there when somebody runs it in earnest."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from server_process import Server

from bench.loads import calls, fields, slow
from bench.loads.served import Served, percentile_ms
from tests.builders.api import operations


@pytest.fixture
def served(server: Server) -> Served:
    return Served(server.process, server.facts)


def test_identical_requests_at_once_make_one_campaign(served: Served) -> None:
    assert calls._identical(served) == 1


def test_calls_of_every_kind_are_answered_and_none_with_a_fault(served: Served) -> None:
    campaign = served.customer.post("/campaigns", {"name": "Called", "message": "Hi"})["campaign_id"]

    statuses = Counter(one.status for one in calls._make(served, campaign, 48, seed=1))

    assert statuses.total() == 48
    assert {200, 404, 422} <= set(statuses)
    assert max(statuses) < 500


def test_half_an_upload_is_no_lead_file_and_excess_is_refused(served: Served) -> None:
    assert slow._half_an_upload(served).startswith("422 The campaign has no lead file yet")
    assert asyncio.run(slow._announces(served, 10**12)) == 413
    assert asyncio.run(slow._sends_more_than_announced(served)) == [200, 400]


def test_large_field_is_tried_in_each_text_of_each_body() -> None:
    tried = {(one.operation_id, name) for one in operations() for name, _ in fields._large_values(one)}

    assert {("create", "message"), ("import_", "phone_numbers"), ("patch_account", "routing")} <= tried
    assert len({operation for operation, _ in tried}) == sum(one.body is not None for one in operations())


def test_percentile_is_in_milliseconds() -> None:
    assert percentile_ms([number / 1000 for number in range(101)], 99) == 99.0
    assert percentile_ms([0.5], 50) == 500.0
