"""The first page: every campaign, how far it is, what holds it and when it ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import click

from console.operator.campaign_words import LIVE
from console.web.campaign_rows import NEEDS_EYES, TONES, Row, row_of
from console.web.page import Act, Page, Visit
from console.web.roll import Roll, Summary
from console.web.running import running_names

SHOWN, MOST_LIVE = 25, 100
# A filter's word in the address, and which standings it lets through.
FILTERS = {
    "live": ("running", "planning", "scheduled", "held", "paused", "waiting for receipts", "cancelled, report to come"),
    "running": ("running", "planning", "scheduled"),
    "held": ("held",),
    "paused": ("paused",),
    "waiting": ("waiting for receipts", "cancelled, report to come"),
    "created": ("created",),
    "finished": ("finished",),
    "cancelled": ("cancelled", "cancelled, report to come"),
    "failed": ("failed",),
}
# As the API takes them; what cannot be one is not asked for.
_ID = re.compile(r"[a-z0-9][a-z0-9-]{2,70}")
_NAMES = {"live": "under way", "waiting": "waiting for receipts", "created": "not started"}
_FIGURES = ("running", "held", "paused", "waiting", "failed")


def _read(visit: Visit) -> dict[str, Any]:
    roll = visit.site.kept.get(("roll", visit.api), lambda: Roll(visit.api, visit.site.every))
    accounts = roll.accounts()
    asked = _Asked(visit.query, accounts)
    found = roll.newest(asked.accounts, asked.before, asked.fits_over, SHOWN)
    live = _live(visit, roll, asked)
    listed = {one["campaign_id"]: one for one in found.rows if one["campaign_id"] not in live}
    details = roll.details([*live, *asked.named, *(name for name, one in listed.items() if one["status"] != "created")])
    rows = [row_of(one, details.get(name)) for name, one in _known(live, details).items()]
    rows = [row for row in rows if asked.is_of_account(row.account) and row.is_live]
    named = {name: details[name] for name in asked.named if name in details and name not in live and not asked.before}
    over = [row_of(one, details.get(name)) for name, one in (named | listed).items()]
    return {
        "title": "Campaigns",
        "asked": asked,
        "accounts": accounts,
        "filters": [(word, _NAMES.get(word, word)) for word in FILTERS],
        "figures": _figures(asked, rows, roll.recent(asked.accounts)),
        "live": [] if asked.before else _first([row for row in rows if asked.fits(row)]),
        "most_live": MOST_LIVE,
        "over": over,
        "found": found,
        "older": asked.link(before=found.older) if found.older else "",
        "is_empty": not (over or rows or asked.is_narrow or asked.before),
    }


class _Asked:
    """What the address asks for: which account's, of which status, with which text, older than what."""

    def __init__(self, query: Mapping[str, str], accounts: list[str]) -> None:
        self.status = query.get("status", "") if query.get("status") in FILTERS else ""
        self.account = query.get("account", "")
        self.search = query.get("search", "").strip()
        self.before = query.get("before", "")
        self.accounts = [self.account] if self.account in accounts else [] if self.account else accounts

    @property
    def named(self) -> list[str]:
        """The campaign whose id was asked for in full: found however old it is."""
        return [self.search] if _ID.fullmatch(self.search) else []

    @property
    def is_narrow(self) -> bool:
        return bool(self.status or self.account or self.search)

    def is_of_account(self, account: str) -> bool:
        return self.account in ("", account)

    def fits(self, row: Row) -> bool:
        """Tell whether a campaign under way is asked for."""
        return self._has(row.name, row.campaign_id) and (not self.status or row.word in FILTERS[self.status])

    def fits_over(self, one: Summary) -> bool:
        """Tell whether one that is not under way is asked for."""
        if one["status"] in LIVE or not self._has(one["name"], one["campaign_id"]):
            return False
        return not self.status or one["status"] in FILTERS[self.status]

    def link(self, **changed: str) -> str:
        """Return the address of this page with something else asked for."""
        given = {"status": self.status, "account": self.account, "search": self.search} | changed
        return "/?" + urlencode({name: value for name, value in given.items() if value})

    def _has(self, *texts: str) -> bool:
        return any(self.search.casefold() in text.casefold() for text in texts)


def _live(visit: Visit, roll: Roll, asked: _Asked) -> dict[str, Summary | None]:
    """Return those that can still change, by id: by the lists, and by what Step Functions says is running."""
    live: dict[str, Summary | None] = {
        one["campaign_id"]: one for one in roll.recent(asked.accounts) if one["status"] in LIVE
    }
    if asked.accounts:
        with suppress(click.ClickException):  # who may not list executions sees what the lists have
            live |= {name: None for name in running_names(visit) if name not in live}
    return live


def _known(live: Mapping[str, Summary | None], details: Mapping[str, Any]) -> dict[str, Summary]:
    return {name: one or details[name] for name, one in live.items() if one or name in details}


def _first(rows: Iterable[Row]) -> list[Row]:
    """Sort: those that somebody has to look at, then the newest."""
    newest = sorted(rows, key=lambda row: row.created_at, reverse=True)
    return sorted(newest, key=lambda row: row.word not in NEEDS_EYES)[:MOST_LIVE]


def _figures(asked: _Asked, rows: list[Row], recent: list[Summary]) -> list[dict[str, Any]]:
    counts = Counter(row.word for row in rows)
    counts["failed"] = sum(one["status"] == "failed" for one in recent)
    return [
        {
            "name": _NAMES.get(word, word),
            "count": (count := sum(counts[name] for name in FILTERS[word])),
            "link": asked.link(status="" if asked.status == word else word),
            "is_chosen": asked.status == word,
            "tone": TONES.get(FILTERS[word][0], "") if count else "",
        }
        for word in _FIGURES
    ]


PAGES = [Page("/", "campaigns.html", _read)]
ACTS: list[Act] = []
