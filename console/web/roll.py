"""Every account's campaigns, the newest first, though the API lists one account at a time.

Pages of the lists and campaigns are kept. What may have changed is asked anew, the longest not asked first, and at one
look only so much: with hundreds of accounts a change is seen some looks later, and no look takes longer for it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from threading import RLock
from typing import Any

from console.operator.api import Api, NoAnswer, at
from console.web.aging import Aging
from paceline.campaigns import OVER
from paceline.cursors import cursor
from paceline.moments import iso

PAGE = 50
FIRST_PAGES_A_LOOK, MORE_PAGES_A_LOOK, CAMPAIGNS_A_LOOK = 12, 20, 24
_AT_ONCE = 8
_DETAIL_SECONDS = 1.0
_ACCOUNTS_KEPT, _PAGES_KEPT, _OVER_KEPT = 15.0, 60.0, 300.0
Summary = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """rows: the newest first. older: the place to go on from; "": these were the last. is_cut: it was read no further
    than there, so that more may fit among what is older."""

    rows: list[Summary]
    older: str
    is_cut: bool


def place_of(one: Summary) -> str:
    """Return a campaign's place among all: the API's own order in each account."""
    return f"{iso(datetime.fromisoformat(one['created_at']))}#{one['campaign_id']}"


class Roll:
    """The campaigns that one key may see. every: seconds between looks; many pages' looks ask no more than one's.

    Safe for threads: one look at a time.
    """

    def __init__(self, api: Api, every: float, now: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._fresh = every * 0.9
        self._now = now
        self._lock = RLock()
        self._pages = Aging(600, now)
        self._campaigns = Aging(2_000, now)
        self._names = Aging(1, now)

    def accounts(self) -> list[str]:
        """Return the accounts' ids, sorted."""
        with self._lock:
            found = self._names.get("accounts", _ACCOUNTS_KEPT, self._ask_accounts)
            self._pages.most = max(600, 3 * len(found))
            return list(found)

    def newest(self, accounts: Sequence[str], before: str, fits: Callable[[Summary], bool], count: int) -> Found:
        """Return so many campaigns that fit, older than a place ("": from the newest)."""
        with self._lock:
            after = cursor(before) if before else None
            self._read_first(accounts, after)
            more = iter(range(MORE_PAGES_A_LOOK))
            merged = heapq.merge(
                *(self._walk(account, after, more) for account in accounts), key=lambda pair: pair[0], reverse=True
            )
            rows: list[Summary] = []
            for place, one in merged:
                if one is None:
                    return Found(rows, place, is_cut=True)
                if fits(one):
                    if len(rows) == count:
                        return Found(rows, place_of(rows[-1]), is_cut=False)
                    rows.append(one)
            return Found(rows, "", is_cut=False)

    def recent(self, accounts: Iterable[str]) -> list[Summary]:
        """Return what the first pages have, which `newest` read."""
        with self._lock:
            pages = (self._pages.found((account, None)) for account in accounts)
            return [one for page in pages if page for one in page["campaigns"]]

    def details(self, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return campaigns as far as they are known; those that can still change are asked again and again."""
        with self._lock:
            due = self._campaigns.due({name: self._kept_for(name) for name in wanted})[:CAMPAIGNS_A_LOOK]
            until = self._now() + _DETAIL_SECONDS
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for start in range(0, len(due), _AT_ONCE):
                    if start and self._now() > until:
                        break
                    some = due[start : start + _AT_ONCE]
                    for name, answer in zip(some, pool.map(self._ask_campaign, some), strict=True):
                        self._campaigns.put(name, answer)
            found = {name: self._campaigns.found(name) for name in wanted}
            return {name: one for name, one in found.items() if one}

    def _kept_for(self, name: str) -> float:
        known = self._campaigns.found(name) or {}
        return _OVER_KEPT if known.get("status") in OVER and known.get("report_version") else self._fresh

    # ---------------------------------------------------------------------------------------------------------------

    def _read_first(self, accounts: Sequence[str], after: str | None) -> None:
        """Read the pages that the merge begins with: all that are not known, and some that are, in their turn."""
        old = {(account, after): self._fresh if after is None else _PAGES_KEPT for account in accounts}
        due = self._pages.due(old)
        unknown = [name for name in due if self._pages.found(name) is None]
        due = [*unknown, *(name for name in due if name not in set(unknown))][: max(len(unknown), FIRST_PAGES_A_LOOK)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for name, page in zip(due, pool.map(lambda name: self._ask_page(*name), due), strict=True):
                self._pages.put(name, page)

    def _walk(self, account: str, after: str | None, more: Iterator[int]) -> Iterator[tuple[str, Summary | None]]:
        """Yield (place, campaign) of an account; (place, None) where more is not read in this look."""
        place = ""
        while True:
            name = (account, after)
            if place:
                if next(more, None) is None:  # also of what is kept: else each look would read further than the last
                    yield place, None
                    return
                self._pages.get(name, _PAGES_KEPT, partial(self._ask_page, account, after))
            page = self._pages.found(name)
            for one in page["campaigns"]:
                place = place_of(one)
                yield place, one
            if (after := page["next"]) is None:
                return

    def _ask_accounts(self) -> list[str]:
        return sorted(one["account_id"] for one in self._api.every(at("admin", "accounts"), "accounts"))

    def _ask_page(self, account: str, after: str | None) -> dict[str, Any]:
        return self._api.get(at("campaigns"), account_id=account, limit=PAGE, after=after)

    def _ask_campaign(self, name: str) -> dict[str, Any]:
        try:
            return self._api.get(at("campaigns", name))
        except NoAnswer as error:
            if error.status != 404:
                raise
            return {}
