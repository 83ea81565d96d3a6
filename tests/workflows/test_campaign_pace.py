"""What left by minute and route, as GET tells it, beside the carrier's book: in whole campaigns, and in bad ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from paceline.batches import batch_summaries, read_ledger
from paceline.keys import parse_message_id
from paceline.minutes import by_minute
from paceline.models import Message
from paceline.moments import iso
from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Profile
from sandbox.faults import Boundary, Fault, by_seed
from tests.builders.campaigns import OPERATOR, Office, an_office, id_of
from tests.builders.core import phone_number

# Receipts doubled, late, missing; numbers that are refused.
MIXED = Profile(
    shares=((DELIVERED, 0.8), (FILTERED, 0.1), (NO_FINAL_RECEIPT, 0.1)), refused=(("21614", 0.05),), doubled=0.2
)
ROUTES = ("shared", "verizon")


def on_two_routes(leads: int) -> bytes:
    """Leads of which a third goes by the route of their carrier; every seventh text has two parts."""
    rows = "".join(
        f"{phone_number(n)},{'A' * 150 if n % 7 == 0 else 'Ana'},{'Verizon' if n % 3 == 0 else ''}\n"
        for n in range(1, leads + 1)
    )
    return f"phone,first_name,carrier\n{rows}".encode()


def has_two_routes(office: Office) -> None:
    office.set_route(parts_per_minute=60)
    office.post("/v1/admin/routes", {"name": "verizon", "carriers": ["Verizon"], "parts_per_minute": 30}, OPERATOR)


def messages(office: Office) -> Iterator[Message]:
    for row in batch_summaries(office.table, id_of("renewals")):
        yield from read_ledger(office.table, id_of("renewals"), row["sk"].removeprefix("BATCH#")).messages.values()


def told(office: Office) -> dict[str, Counter[str]]:
    """Return parts by route and minute, as GET tells them."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in office.shown()["pace"]:
        found[one["route"]][one["minute"]] += one["parts"]
    return found


def test_each_minute_has_what_the_carriers_book_has_of_it() -> None:
    with an_office(profile=MIXED) as office:
        has_two_routes(office)
        office.start(on_two_routes(200))

        office.report()

        by_lead = {message.lead_no: message for message in messages(office)}
        book: dict[str, Counter[str]] = defaultdict(Counter)
        astride: dict[str, Counter[str]] = defaultdict(Counter)
        for entry, at in zip(office.sandbox.carrier.book, office.sent_times(), strict=True):
            message = by_lead[parse_message_id(entry.message_id)[2]]
            assert message.answered_at is not None
            booked, counted = (f"{moment:%Y-%m-%dT%H:%M:00Z}" for moment in (at, message.answered_at))
            book[message.route][booked] += entry.parts
            if booked != counted:  # its answer came in the next minute
                astride[message.route].update({booked: -entry.parts, counted: entry.parts})
        for route in ROUTES:
            book[route].update(astride[route])
            assert told(office)[route] == +book[route]
            assert len(book[route]) > 2
        assert sum(map(len, astride.values())) < 10
        check_routes(office)


def check_routes(office: Office) -> None:
    """Assert that what the answer says by route adds up to what it says of the campaign."""
    asked_at, shown = office.now, office.shown()
    total: Counter[str] = sum((Counter(one["messages"]) for one in shown["by_route"]), Counter())
    assert total == shown["messages"]
    assert [one["route"] for one in shown["by_route"]] == list(ROUTES)
    assert sum(one["leads"] for one in shown["by_route"]) == shown["plan"]["leads"]["accepted"]
    assert sum(one["parts"] for one in shown["by_route"]) == shown["plan"]["parts"]
    assert [one["per_minute"] for one in shown["by_route"]] == [60, 30]
    assert {one["route"]: one["parts_sent"] for one in shown["by_route"]} == {
        route: sum(minutes.values()) for route, minutes in told(office).items()
    }
    assert iso(asked_at) < shown["as_of"] < iso(office.now)


def kills(boundary: Boundary, choose: Any) -> Fault | None:
    """Kill what sends and what closes, and nothing else."""
    return choose(boundary) if boundary.function in ("send", "close") else None


def test_killed_repeated_and_missed_steps_count_nothing_twice_and_lose_nothing() -> None:
    faults = by_seed(7, 0.03, (Fault.BEFORE, Fault.AFTER, Fault.ORPHANED, Fault.LOST, Fault.REPEATED))
    with an_office(profile=Profile(shares=MIXED.shares, throttled=0.02, silent=0.02, refused=())) as office:
        has_two_routes(office)
        office.sandbox.faults.arm(lambda boundary: kills(boundary, faults))
        office.start(on_two_routes(150))
        office.wait_until(lambda: office.sent > 40)
        office.change("pause")
        office.passes(seconds=90)
        office.change("resume")

        office.report()

        taken = Counter[str]()
        for entry in office.sandbox.carrier.book:
            taken[entry.message_id] += entry.parts
        in_doubt, booked = Counter[str](), Counter[str]()
        rounds = set()
        for message in messages(office):
            message_id = f"{id_of('renewals')}.{message.batch_id}.{message.lead_no}"
            booked[message.route] += taken[message_id]
            rounds.add(message.round)
            if message.answered_at is None and message.claimed_at and not taken[message_id]:
                in_doubt[message.route] += message.parts
        assert {r: sum(minutes.values()) for r, minutes in told(office).items()} == booked + in_doubt
        assert sum(in_doubt.values()) > 0
        assert len(rounds) > 2
        check_routes(office)


def test_a_batch_counts_once_its_round_is_closed() -> None:
    with an_office(route={"parts_per_minute": 60}) as office:
        office.start(45)
        office.wait_until(lambda: office.sent > 20)
        closed = [row for row in batch_summaries(office.table, id_of("renewals")) if "by_minute" in row]

        parts = sum(one["parts"] for one in office.shown()["pace"])

        assert parts == sum(sum(by_minute(row).values()) for row in closed) < office.sent
        office.report()
        assert sum(one["parts"] for one in office.shown()["pace"]) == 45


def test_a_campaign_without_a_plan_has_no_routes_and_no_pace() -> None:
    with an_office() as office:
        office.post("/v1/campaigns", {"campaign_id": "renewals", "name": "Renewals", "message": "Hi"})

        shown = office.shown()

        assert (shown["by_route"], shown["pace"]) == ([], [])
