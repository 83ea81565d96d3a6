"""What a plan foretells is what then comes: the last message leaves within 5 % of the sending time of the forecast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from sandbox.testing.leads import make_leads, to_csv
from tests.builders.campaigns import Office, an_office, id_of

LEADS = 700
ALWAYS = {"opens": "00:00", "closes": "00:00"}
DUE = "Hi {{first_name}}, it is due."
LONG = DUE + " Call us, or reply to this message." * 12
EVENING = datetime.fromisoformat("2026-09-03T00:58:00Z")  # two minutes before nine in New York


def create(office: Office, campaign_id: str, leads: int, **fields: Any) -> None:
    body = {"campaign_id": campaign_id, "name": "Renewals", "message": DUE}
    office.post("/v1/campaigns", body | {"receipt_deadline_hours": 1} | fields)
    key = f"uploads/acme/{id_of(campaign_id)}/leads.csv"
    bucket = office.sandbox.outputs["BucketName"]
    boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=to_csv(make_leads(leads)))


def plan(office: Office, campaign_id: str) -> dict[str, Any]:
    return office.post(f"/v1/campaigns/{campaign_id}/plan")


def start(office: Office, campaign_id: str) -> None:
    office.post(f"/v1/campaigns/{campaign_id}/start")


def last_sent(office: Office, campaign_id: str) -> datetime:
    office.report(campaign_id)
    return max(datetime.fromisoformat(row["sent_at"]) for row in office.rows("outcomes.csv", campaign_id))


def seconds_off(told: dict[str, Any], last: datetime) -> float:
    return abs((datetime.fromisoformat(told["finish_at"]) - last).total_seconds())


@contextmanager
def a_planned_office(leads: int, route: dict[str, Any], began: datetime | None, **fields: Any) -> Iterator[Office]:
    with an_office(credits=5000, route=route, **({"start": began} if began else {})) as office:
        create(office, "renewals", leads, **fields)
        yield office


@pytest.mark.parametrize(
    ("route", "began", "window", "causes"),
    [
        pytest.param({}, None, ALWAYS, ["pace"], id="the pace alone"),
        pytest.param(
            {"parts_per_day": 420}, None, ALWAYS, ["pace", "route_day_cap", "pace"], id="a day cap that forces a night"
        ),
        pytest.param(
            {},
            EVENING,
            {"opens": "08:00", "closes": "21:00"},
            ["pace", "sending_window", "pace"],
            id="a window that closes",
        ),
    ],
)
def test_a_plan_foretells_the_last_message(
    route: dict[str, Any], began: datetime | None, window: dict[str, str], causes: list[str]
) -> None:
    with a_planned_office(LEADS, route, began, sending_window=window) as office:
        told = plan(office, "renewals")
        start(office, "renewals")
        office.passes(seconds=60)
        under_way = office.shown()
        last = last_sent(office, "renewals")

        of_sending = 0.05 * LEADS / 4  # seconds: nights do not make the promise easier to keep
        assert [span["cause"] for span in told["binding_caps"]] == causes
        assert seconds_off(told, last) <= of_sending
        assert seconds_off(under_way, last) <= of_sending
        assert under_way["binding"]["cause"] == "pace"


@pytest.mark.parametrize(
    ("leads", "route", "message"),
    [
        pytest.param(200, {}, DUE, id="less than the route's first minute"),
        pytest.param(160, {"concurrency": 1}, DUE, id="one at a time"),
        pytest.param(500, {"concurrency": 4, "parts_per_minute": 1000}, DUE, id="a fast route, four at a time"),
        pytest.param(60, {"parts_per_minute": 20}, LONG, id="three parts on a slow route"),
    ],
)
def test_a_plan_foretells_what_a_route_really_gives(leads: int, route: dict[str, Any], message: str) -> None:
    with a_planned_office(leads, route, None, sending_window=ALWAYS, message=message) as office:
        told, began = plan(office, "renewals"), office.now
        start(office, "renewals")
        last = last_sent(office, "renewals")

        assert seconds_off(told, last) <= 0.05 * (last - began).total_seconds()


@dataclass(frozen=True)
class TwoAtOnce:
    """What was told of two campaigns, and when the last message of each left."""

    told_of_second: dict[str, Any]
    shown_of_first: dict[str, Any]
    last_of_first: datetime
    last_of_second: datetime


@pytest.fixture(scope="module")
def two_at_once() -> TwoAtOnce:
    """A campaign of a thousand leads, and after a minute the plan of one of five hundred, which then starts."""
    with an_office(credits=5000) as office:
        create(office, "first", 1000, sending_window=ALWAYS)
        create(office, "second", 500, sending_window=ALWAYS)
        start(office, "first")
        office.passes(seconds=60)
        told = plan(office, "second")
        start(office, "second")
        office.passes(seconds=10)  # until the second one has its plan
        return TwoAtOnce(told, office.shown("first"), last_sent(office, "first"), last_sent(office, "second"))


def test_two_campaigns_on_one_route_end_when_the_forecast_says(two_at_once: TwoAtOnce) -> None:
    last = max(two_at_once.last_of_first, two_at_once.last_of_second)

    [ahead] = two_at_once.told_of_second["campaigns_ahead"]
    assert (ahead["campaign_id"], ahead["routes"]) == (id_of("first"), ["shared"])
    assert 700 < ahead["parts_left"] < 800
    assert seconds_off(two_at_once.shown_of_first, last) <= 0.05 * (760 + 500) / 4


def test_each_of_two_campaigns_on_one_route_ends_when_its_forecast_says(two_at_once: TwoAtOnce) -> None:
    assert seconds_off(two_at_once.told_of_second, two_at_once.last_of_second) <= 0.05 * (500 + 500) / 4


def test_a_plan_that_lacks_credits_or_time_has_no_end_and_says_why() -> None:
    with an_office(credits=1000) as office:
        create(office, "poor", 1100, sending_window=ALWAYS)
        create(office, "late", 1000, sending_window=ALWAYS, send_by=(office.now + timedelta(seconds=100)).isoformat())

        poor, late = plan(office, "poor"), plan(office, "late")

        assert (poor["finish_at"], poor["finish_reason"]["cause"], poor["finish_reason"]["parts"]) == (
            None,
            "credits",
            100,
        )
        assert (late["finish_at"], late["finish_reason"]["cause"]) == (None, "pace")
        assert 600 < late["finish_reason"]["parts"] < 640
        assert any("cannot finish before send_by" in warning for warning in late["warnings"])
