"""What the API answers of campaigns and accounts; each fits the API's own model."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from api.answers.campaigns import CampaignAnswer
from paceline.cursors import cursor, place
from paceline.moments import iso
from tests.builders.console import FakeApi, refusal

NOW = datetime(2026, 9, 2, 16, 0, tzinfo=UTC)
PLAN = {
    "leads": {"in": 1000, "rejected": 20, "duplicates": 10, "opted_out": 0, "accepted": 970},
    "parts": 970,
    "batches": 25,
    "warnings": [],
    "rejected_reasons": {"too_short": 20},
    "phone_column": "phone",
}


def at(minutes: float = 0) -> str:
    """Return a moment so many minutes after NOW, as the API writes it."""
    return iso(NOW + timedelta(minutes=minutes))


def a_hold(cause: str, **more: Any) -> dict[str, Any]:
    """Return what binds a campaign."""
    return {"cause": cause, "since": at(1), "until": None, "route": "shared", "used": None, "limit": None} | more


def a_campaign(campaign_id: str = "renewals", **more: Any) -> dict[str, Any]:
    """Return the answer to GET of a campaign that runs, with 400 of its 970 messages sent."""
    status = more.get("status", "running")
    answer = {
        "campaign_id": campaign_id,
        "account_id": "acme",
        "name": f"The {campaign_id}",
        "status": status,
        "created_at": at(),
        "start_at": None if status == "created" else at(1),
        "send_by": at(60 * 24 * 30),
        "headline": "",
        "message": "Hi {{first_name}}",
        "route": None,
        "sending_window": {"opens": "08:00:00", "closes": "21:00:00"},
        "weight": 1,
        "smart_punctuation": "keep",
        "receipt_deadline_hours": 72,
        "report_version": 0,
        "pauses": [],
        "plan": None if status == "created" else PLAN,
        "messages": {} if status == "created" else {"sent": 150, "delivered": 240, "undelivered": 10},
        "held_by": [],
        "lost_to": {},
        "binding": None,
        "finish_at": None,
        "finish_reason": None,
        "notifications": [],
        "as_of": at(5),
        "by_route": None,
        "pace": None,
    } | more
    CampaignAnswer.model_validate(answer)
    return answer


def a_report(**more: Any) -> dict[str, Any]:
    """Return the answer to GET of a report."""
    return {
        "version": 1,
        "generated_at": at(30),
        "reason": "",
        "headline": "All 970 messages have an outcome.",
        "balanced": True,
        "outcomes": {"delivered": 917, "undelivered": 50, "failed": 3, "skipped": 0, "unconfirmed": 0},
        "causes": {"undelivered": {"carrier_filtered": 28}},
        "credits": {"reserved": 973, "consumed": 967, "released": 6},
        "by_route": {"shared": {"parts_per_minute_cap": 240}},
        "sent_per_minute": {"shared": [[at(1), 237], [at(2), 230]]},
        "files": {"report.html": "https://files.example/report.html?signed"},
    } | more


def an_api(*campaigns: dict[str, Any], page: int = 50) -> FakeApi:
    """Return an API with these campaigns, and their accounts. page: it lists at most so many at once."""
    of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in sorted(campaigns, key=_place, reverse=True):
        of[one["account_id"]].append(one)

    def listed(request: httpx.Request) -> Any:
        asked = request.url.params
        account, limit = asked["account_id"], min(int(asked["limit"]), page)
        if account not in of:
            return refusal(404, f"There is no account {account!r}.")
        after = place(asked["after"]) if "after" in asked else "~"
        left = [one for one in of[account] if _place(one) < after]
        shown = left[:limit]
        return {"campaigns": shown, "next": cursor(_place(shown[-1])) if len(left) > limit else None}

    api = FakeApi({"GET /v1/campaigns": listed})
    api.answers["GET /v1/admin/accounts"] = {"accounts": [{"account_id": name} for name in of], "next": None}
    api.answers |= {f"GET /v1/campaigns/{one['campaign_id']}": one for one in campaigns}
    return api


def _place(one: dict[str, Any]) -> str:
    return f"{one['created_at']}#{one['campaign_id']}"
