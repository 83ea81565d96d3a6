"""Builders of campaigns to plan, and readers of what planning wrote."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

from paceline.leads.lines import leads_from_lines
from paceline.models import Batch, Campaign, Lead, Plan, Route, RoutingRules
from paceline.planning import plan_campaign
from paceline.ports import CarrierLookUp
from tests.fakes.stores import MemoryOptOuts, MemoryStore

KEY = "uploads/leads.csv"
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply YES for a call, STOP to opt out."
SHARED = Route(name="shared")
VERIZON = Route(name="verizon", carriers=("Verizon",), parts_per_minute=6000)
ROUTES = (SHARED, VERIZON)


def a_campaign(**changes: object) -> Campaign:
    fields = {
        "campaign_id": "spring-quotes",
        "account_id": "acme",
        "name": "Spring quotes",
        "message": MESSAGE,
        "leads_key": KEY,
        "created_at": datetime(2026, 9, 3, 12, tzinfo=UTC),
    }
    return Campaign.model_validate(fields | changes)


def planned(
    content: str,
    *,
    routes: tuple[Route, ...] = ROUTES,
    opt_outs: MemoryOptOuts | None = None,
    carriers: CarrierLookUp | None = None,
    rules: RoutingRules | None = None,
    batch_size: int = 40,
    **changes: object,
) -> tuple[Plan, MemoryStore]:
    store = MemoryStore({KEY: content.encode()})
    plan = plan_campaign(
        a_campaign(**changes),
        routes,
        store,
        opt_outs or MemoryOptOuts(),
        carriers=carriers,
        rules=rules,
        batch_size=batch_size,
    )
    return plan, store


def a_file(count: int, area: str = "202", heading: str = "phone,first_name") -> str:
    return heading + "\n" + "".join(f"+1{area}555{line:04},Ana\n" for line in range(count))


def batches_of(store: MemoryStore, key: str) -> list[Batch]:
    return [Batch.model_validate(item) for item in json.loads(store.get(key))]


def leads_of(store: MemoryStore, batch: Batch) -> list[Lead]:
    return list(leads_from_lines(store.get(batch.leads_key, batch.first_byte, batch.last_byte)))


def rejects_of(store: MemoryStore, plan: Plan) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(store.get(plan.rejects_key).decode(), newline="")))


def leads_in(store: MemoryStore, plan: Plan) -> list[Lead]:
    """Return every lead of the plan, batch by batch."""
    return [lead for batch in batches_of(store, plan.batches_manifest_key) for lead in leads_of(store, batch)]
