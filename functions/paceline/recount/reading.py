"""Reading an account's campaigns, batch by batch, and looking again at what may have moved meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter

from paceline import keys
from paceline.audit import account_subject
from paceline.batches import batch_summaries, read_ledger
from paceline.campaigns import get_campaign, get_plan
from paceline.models import Batch, Campaign
from paceline.ports import ObjectStore
from paceline.recount import movements
from paceline.recount.batch import BatchCheck, BatchRows, check_batch
from paceline.recount.movements import Movements
from paceline.table import Row, Table

_BATCHES = TypeAdapter(list[Batch])

# What BatchGetItem takes at once.
MOST_KEYS = 100

# A batch that differs is read again until two readings agree; one that moves faster than that is looked at next time.
MAX_READINGS = 5

Progress = Callable[[str, int, int], None]
"""Told how far a campaign's batches are read: campaign id, read, of how many."""


@dataclass(slots=True)
class BatchBook:
    """A batch's rows, and what its check found. Its messages are not kept."""

    batch: Batch
    leases: dict[int, Row] = field(default_factory=dict)
    summary: Row = field(default_factory=dict)
    check: BatchCheck = field(default_factory=BatchCheck)


@dataclass(slots=True)
class CampaignBook:
    """A campaign and its batches, by id; none before it is planned."""

    campaign: Campaign
    batches: dict[str, BatchBook] = field(default_factory=dict)

    def is_past(self, now: datetime) -> bool:
        """Tell whether its messages and its manifest may be deleted by now; its leases and batches are kept."""
        return self.campaign.kept_until is not None and self.campaign.kept_until <= now


@dataclass(slots=True)
class AccountBook:
    """An account's campaigns, by id, and the trail of its operators' changes."""

    account_id: str
    campaigns: dict[str, CampaignBook] = field(default_factory=dict)
    trail: list[Row] = field(default_factory=list)

    def batches(self) -> Iterator[tuple[Campaign, BatchBook]]:
        for book in self.campaigns.values():
            for batch in book.batches.values():
                yield book.campaign, batch

    def movements(self) -> Movements:
        """Return every movement that its rows tell of."""
        found = movements.of_trail(self.account_id, self.trail)
        for _, one in self.batches():
            found |= movements.of_batch(self.account_id, one.batch, one.leases, one.summary)
        return found


def _quietly(campaign_id: str, read: int, of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the rows that a recount needs."""

    table: Table
    store: ObjectStore
    now: datetime
    on_progress: Progress = _quietly

    def read(self, account_id: str) -> AccountBook:
        """Read and check every batch of the account, with its messages."""
        book = AccountBook(account_id)
        self._find_campaigns(book)
        for campaign_id in book.campaigns:
            self._read_campaign(book.campaigns[campaign_id])
        return book

    def look_again(self, book: AccountBook) -> None:
        """Take up what moved since: new campaigns and rounds, closed leases, settlements, purchases."""
        self._find_campaigns(book)
        book.trail = list(self.table.query(keys.audit_partition(account_subject(book.account_id))))
        for one in book.campaigns.values():
            for row in batch_summaries(self.table, one.campaign.campaign_id) if one.batches else []:
                if (batch_id := row["sk"].removeprefix("BATCH#")) in one.batches:
                    one.batches[batch_id].summary = row
        self._look_at_leases([batch for _, batch in book.batches() if _may_move(batch)])

    def _find_campaigns(self, book: AccountBook) -> None:
        for row in self.table.query(keys.account_campaigns(book.account_id)):
            campaign_id = row["campaign_id"]
            if campaign_id not in book.campaigns:
                book.campaigns[campaign_id] = CampaignBook(get_campaign(self.table, campaign_id))
            one = book.campaigns[campaign_id]
            if not one.batches and one.is_past(self.now):
                one.batches = {book.batch.batch_id: book for book in self._begun(campaign_id)}
            elif not one.batches and (plan := get_plan(self.table, campaign_id)) and plan.batches_manifest_key:
                planned = _BATCHES.validate_json(self.store.get(plan.batches_manifest_key))
                one.batches = {batch.batch_id: BatchBook(batch) for batch in planned}

    def _begun(self, campaign_id: str) -> Iterator[BatchBook]:
        """Yield the batches that began, from their rows: as much of them as a recount of their leases needs."""
        for row in batch_summaries(self.table, campaign_id):
            batch_id, route = row["sk"].removeprefix("BATCH#"), row.get("route", "")
            batch = Batch(
                campaign_id=campaign_id,
                batch_id=batch_id,
                route=route,
                zones=(),
                leads=row.get("leads", 0),
                parts=0,
                leads_key="",
                first_byte=0,
                last_byte=0,
            )
            leases = self.table.query(keys.batch_partition(campaign_id, batch_id), keys.LEASES)
            yield BatchBook(batch, {lease["round"]: lease for lease in leases}, row)

    def _read_campaign(self, one: CampaignBook) -> None:
        if one.is_past(self.now):
            return
        campaign = one.campaign = get_campaign(self.table, one.campaign.campaign_id)  # its charging is fixed by now
        summaries = {row["sk"].removeprefix("BATCH#"): row for row in batch_summaries(self.table, campaign.campaign_id)}
        for number, book in enumerate(one.batches.values(), start=1):
            self._read_batch(campaign, book, summaries.get(book.batch.batch_id, {}))
            self.on_progress(campaign.campaign_id, number, len(one.batches))

    def _read_batch(self, campaign: Campaign, book: BatchBook, summary: Row) -> None:
        """Read and check a batch; where it differs, again until two readings agree."""
        last: BatchRows | None = None
        for _ in range(MAX_READINGS):
            ledger = read_ledger(self.table, campaign.campaign_id, book.batch.batch_id)
            late = frozenset() if last is None else self._late(campaign.campaign_id, book.batch.batch_id)
            rows = BatchRows(campaign, book.batch, ledger, summary, late)
            book.leases, book.summary, book.check = ledger.leases, summary, check_batch(rows)
            if not (book.check.differences or book.check.notes) or rows == last:
                return
            last = rows
            campaign = get_campaign(self.table, campaign.campaign_id)
            summary = self.table.get(keys.batch(campaign.campaign_id, book.batch.batch_id)) or {}
        book.check = BatchCheck()  # its rows move: nothing can be said of them now

    def _late(self, campaign_id: str, batch_id: str) -> frozenset[int]:
        """Return the leads of a batch whose late receipts no report has taken up."""
        partition, prefix = keys.late_notes(campaign_id)
        notes = self.table.query(partition, f"{prefix}{batch_id}#")
        return frozenset(row["lead_no"] for row in notes if "version" not in row)

    def _look_at_leases(self, books: list[BatchBook]) -> None:
        """Read the open leases of batches, and the ones that may have come after."""
        while books:
            wanted = {key: book for book in books for key in _next_leases(book)}
            found: list[tuple[BatchBook, Row]] = []
            for first in range(0, len(wanted), MOST_KEYS):
                rows = self.table.get_many(list(wanted)[first : first + MOST_KEYS])
                found += [(wanted[row["pk"], row["sk"]], row) for row in rows]
            new = {id(book): book for book, row in found if row["round"] not in book.leases}
            for book, row in found:
                book.leases[row["round"]] = row
            books = list(new.values())


def _may_move(book: BatchBook) -> bool:
    return "settled_at" not in book.summary or any("closed_at" not in lease for lease in book.leases.values())


def _next_leases(book: BatchBook) -> list[keys.Key]:
    still_open = [round_no for round_no, lease in book.leases.items() if "closed_at" not in lease]
    rounds = [*still_open, max(book.leases, default=0) + 1]
    return [keys.lease(book.batch.campaign_id, book.batch.batch_id, round_no) for round_no in rounds]
