"""The first page: every campaign, how far it is, what holds it and when it ends."""

from __future__ import annotations

from typing import Any

from console.operator.api import at
from console.web.page import Act, Page, Visit


def _read(visit: Visit) -> dict[str, Any]:
    accounts = [one["account_id"] for one in visit.api.every(at("admin", "accounts"), "accounts")]
    listed = [
        one for account in accounts for one in visit.api.get(at("campaigns"), account_id=account, limit=25)["campaigns"]
    ]
    found = [visit.api.get(at("campaigns", one["campaign_id"])) for one in listed]
    return {"title": "Campaigns", "campaigns": found}


PAGES = [Page("/", "campaigns.html", _read)]
ACTS: list[Act] = []
