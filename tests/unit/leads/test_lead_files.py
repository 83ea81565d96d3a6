"""The committed lead files: fictional, made by the script, and planned as its docstring says."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from events.make_leads import CONTIGUOUS, lead_file
from paceline.models import Campaign, Plan, Route
from paceline.planning import plan_campaign
from tests.fakes.stores import MemoryOptOuts, MemoryStore

EVENTS = Path(__file__).resolve().parents[3] / "events"
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply YES for a call, STOP to opt out."
ROUTES = (Route(name="shared"), Route(name="verizon", carriers=("Verizon",)))


def planned(name: str) -> Plan:
    store = MemoryStore({name: (EVENTS / name).read_bytes()})
    created_at = datetime(2026, 9, 3, tzinfo=UTC)
    campaign = Campaign(
        campaign_id="quotes", account_id="acme", name="", message=MESSAGE, leads_key=name, created_at=created_at
    )
    return plan_campaign(campaign, ROUTES, store, MemoryOptOuts())


@pytest.mark.parametrize(
    ("name", "seed", "carriers"), [("leads-1000.csv", 1000, True), ("leads-25000.csv.gz", 25_000, False)]
)
def test_the_committed_file_is_what_the_script_makes(name: str, seed: int, carriers: bool) -> None:
    made, committed = lead_file(seed, seed, name, carriers=carriers), (EVENTS / name).read_bytes()

    # Compared unpacked: another zlib may pack the same rows into other bytes.
    assert _unpacked(made) == _unpacked(committed)


def test_the_small_file_holds_every_kind_of_row() -> None:
    plan = planned("leads-1000.csv")

    assert plan.leads.model_dump() == {"total": 1000, "rejected": 20, "duplicates": 10, "opted_out": 0, "accepted": 970}
    assert plan.parts == 970  # one part a lead
    assert len(plan.rejected_reasons) == 12
    assert {stream.route for stream in plan.streams} == {"shared", "verizon"}


def test_the_large_file_goes_whole_by_the_shared_route_one_part_a_lead() -> None:
    plan = planned("leads-25000.csv.gz")

    assert plan.leads.accepted == plan.leads.total == plan.parts == 25_000
    assert {stream.route for stream in plan.streams} == {"shared"}
    assert CONTIGUOUS.issuperset(zone for stream in plan.streams for zone in stream.zones)


def _unpacked(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
