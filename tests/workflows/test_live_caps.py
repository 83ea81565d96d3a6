"""Caps are changed while campaigns run: until then it is said what binds, and then it goes on without a restart."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.builders.campaigns import OPERATOR, Office, an_office, id_of, is_balanced

ALWAYS = {"opens": "00:00", "closes": "00:00"}
MIDNIGHT = datetime.fromisoformat("2026-09-03T04:00:00Z")  # in New York


def patch(office: Office, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return office.call("PATCH", path, body, OPERATOR)


def waits(office: Office, cause: str) -> None:
    office.wait_until(lambda: cause in [hold["cause"] for hold in office.shown()["held_by"]], step_seconds=5)


def test_a_raised_account_cap_goes_on_at_once_and_until_then_it_is_what_binds() -> None:
    with an_office(parts_per_day=7) as office:
        office.start(12, sending_window=ALWAYS)
        waits(office, "account_day_cap")
        office.passes(minutes=10)
        before = office.shown()

        answer = patch(office, "/v1/admin/accounts/acme", {"parts_per_day": 100})
        raised_at = office.now
        office.wait_until(lambda: office.sent > 7, step_seconds=0.1, most_hours=0.1)

        assert before["binding"]["cause"] == "account_day_cap"
        assert (before["binding"]["used"], before["binding"]["limit"]) == (7, 7)
        assert before["lost_to"]["account_day_cap"] >= 590
        assert timedelta(0) < datetime.fromisoformat(before["finish_at"]) - MIDNIGHT < timedelta(seconds=5)
        assert answer["released_batches"] == 1
        assert office.now - raised_at < timedelta(seconds=5)
        assert is_balanced(office, office.report())
        assert office.sent == 12


def test_a_suspended_account_is_held_and_an_active_one_goes_on() -> None:
    with an_office() as office:
        patch(office, "/v1/admin/accounts/acme", {"operational_status": "suspended"})
        office.start(5)
        waits(office, "account_not_active")
        held = office.shown()

        patch(office, "/v1/admin/accounts/acme", {"operational_status": "active"})

        assert held["binding"]["cause"] == held["finish_reason"]["cause"] == "account_not_active"
        assert held["finish_at"] is None
        assert is_balanced(office, office.report())
        assert office.sent == 5


def test_a_route_that_is_full_for_today_says_whom_it_holds_until_when_and_what_it_cost() -> None:
    with an_office(route={"parts_per_day": 10}) as office:
        office.start(20, sending_window=ALWAYS)
        waits(office, "route_day_cap")
        office.passes(minutes=10)

        route = office.call("GET", "/v1/routes/shared")

        assert (route["binding"]["cause"], route["binding"]["used"]) == ("route_day_cap", 10)
        assert route["binding"]["until"] == "2026-09-03T04:00:00.000000Z"
        assert route["campaigns"] == [id_of("renewals")]
        assert route["lost_to"]["route_day_cap"] >= 590


def test_missing_credits_are_said_to_the_credit() -> None:
    with an_office(credits=13) as office:
        office.start(40)
        waits(office, "credits")
        held = office.shown()
        office.change("cancel")

        assert held["binding"]["cause"] == "credits"
        assert held["finish_reason"]["parts"] == 27
        assert held["finish_reason"]["detail"].startswith("27 credits are missing")
