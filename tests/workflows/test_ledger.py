"""An account's ledger: what was bought, what each campaign holds and used; it adds up to the account's row."""

from __future__ import annotations

from typing import Any

from paceline.api_keys import key_id_of
from sandbox.carrier import DELIVERED, FILTERED, Profile
from tests.builders.campaigns import OPERATOR, Office, an_office, id_of

LEDGER = "/v1/admin/accounts/acme/ledger"
REFUSING = Profile(shares=((DELIVERED, 0.8), (FILTERED, 0.2)), refused=(("21614", 0.2),), doubled=0.0)


def entries(office: Office) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = office.call("GET", LEDGER, key=OPERATOR)["entries"]
    return found


def total(found: list[dict[str, Any]], name: str) -> int:
    return sum(one[name] or 0 for one in found)


def test_the_ledger_sums_to_the_account_while_one_campaign_runs_and_one_is_over() -> None:
    with an_office(credits=60, profile=REFUSING, route={"parts_per_minute": 60}) as office:
        office.start(30)
        office.report()
        office.start(45, "another")
        office.buy(25)
        agreed = looks = 0
        for _ in range(60):
            office.passes(seconds=1.3)
            before, found, after = office.account(), entries(office), office.account()
            if before != after or not after.reserved:
                continue  # something moved while we looked
            looks += 1
            assert office.execution("another").status == "RUNNING"
            assert total(found, "bought") == after.bought == 85
            assert total(found, "consumed") == after.consumed
            agreed += after.available == 85 - total(found, "reserved") - total(found, "consumed")
        assert looks > 30
        assert agreed >= looks - 2  # a batch may be between two steps
        office.report("another")

        over = entries(office)

        assert (total(over, "reserved"), total(over, "consumed")) == (0, office.account().consumed)
        assert total(over, "released") > 0


def test_an_entry_says_who_bought_and_which_campaign_in_what_state() -> None:
    with an_office(credits=100) as office:
        office.start(5)
        office.report()
        office.buy(7)

        newest, campaign, first = entries(office)

        assert (newest["kind"], newest["bought"], newest["by"]) == ("bought", 7, key_id_of(OPERATOR))
        assert (first["kind"], first["bought"], first["campaign_id"]) == ("bought", 100, None)
        named = {name: campaign[name] for name in ("kind", "campaign_id", "name", "status", "bought")}
        assert named == {
            "kind": "campaign",
            "campaign_id": id_of("renewals"),
            "name": "Renewals",
            "status": "finished",
            "bought": None,
        }
        numbers = {name: campaign[name] for name in ("reserved", "consumed", "released", "waived")}
        assert numbers == {"reserved": 0, "consumed": 5, "released": 0, "waived": 0}


def test_the_ledger_is_paged_with_nothing_left_out_or_twice() -> None:
    with an_office(credits=10) as office:
        for number in range(4):
            office.post("/v1/campaigns", {"campaign_id": f"spring-{number}", "name": "Spring", "message": "Hi"})
            office.buy(number + 1)
            office.call("PATCH", "/v1/admin/accounts/acme", {"name": f"Acme {number}"}, OPERATOR)  # no entry
        whole = entries(office)

        pages, after = [], ""
        while after is not None:
            page = office.call("GET", f"{LEDGER}?limit=1{after}", key=OPERATOR)
            pages.append(page["entries"])
            after = page["next"] and f"&after={page['next']}"

        assert [one for page in pages for one in page] == whole
        assert [len(page) for page in pages] == [1] * 9
        assert [one["at"] for one in whole] == sorted((one["at"] for one in whole), reverse=True)
        assert [one["bought"] for one in whole if one["kind"] == "bought"] == [4, 3, 2, 1, 10]


def test_an_accounts_own_day_cap_is_shown_with_its_use_in_each_day_of_a_route() -> None:
    with an_office(parts_per_day=50) as office:
        office.post("/v1/admin/routes", {"name": "pacific", "time_zone": "America/Los_Angeles"}, OPERATOR)
        office.start(5)
        office.report()

        shown = office.call("GET", "/v1/admin/accounts/acme", key=OPERATOR)["day_use"]
        office.call("PATCH", "/v1/admin/accounts/acme", {"parts_per_day": None}, OPERATOR)

        assert [(one["time_zone"], one["used"], one["limit"]) for one in shown] == [
            ("America/Los_Angeles", 5, 50),
            ("America/New_York", 5, 50),
        ]
        assert shown[1]["resets_at"].startswith("2026-09-03T04:00:00")
        assert office.call("GET", "/v1/admin/accounts/acme", key=OPERATOR)["day_use"] == []
