"""Our design: a campaign of the product itself, by the API that customers use, on a route with this many workers."""

from __future__ import annotations

import gzip
from pathlib import Path

from sandbox.customer import set_up
from sandbox.deployment import ROOT
from sandbox.scheduler import Future
from sandbox.world import Sandbox

# The leads of the story's campaign, without a carrier: all go by one route.
LEADS = ROOT / "events" / "leads-25000.csv.gz"
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply YES for a call, STOP to opt out."


def start_campaign(sandbox: Sandbox, workers: int, ceiling: int, leads: int) -> Future:
    """Start a campaign for `leads` leads; return what is done when it ends."""
    route = {"name": "shared", "sender": "+12025550100", "concurrency": workers}
    customer = set_up(sandbox, credits=10_000_000, routes=[route], parts_per_minute=ceiling)
    campaign_id = customer.create(first_leads(LEADS, leads), message=MESSAGE)
    customer.post(f"/v1/campaigns/{campaign_id}/start")
    return sandbox.execution(campaign_id).done


def first_leads(path: Path, count: int) -> bytes:
    """Return the first leads of a file, with its heading. Raises: ValueError, where it has fewer."""
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    if count >= len(lines):
        raise ValueError(f"{path.name} has {len(lines) - 1:,} leads, fewer than {count:,}")
    return b"".join(lines[: count + 1])
