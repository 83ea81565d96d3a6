"""The recount: what the rows of campaigns come to, against the rows that batches share, while campaigns run.

A look before and a look after a shared row is read: where nothing moved between them the row must be the sum exactly.
Where something did, the row must be the sum and some of what moved; else it differs, whatever is under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from paceline import keys
from paceline.accounts import account_ids, get_account
from paceline.models import Campaign
from paceline.ports import ObjectStore
from paceline.recount import fits
from paceline.recount.batch import name_of
from paceline.recount.differences import Correction, Difference, Note
from paceline.recount.movements import Amounts, Movements, between, may_be, of_batch, total
from paceline.recount.reading import AccountBook, Progress, Reader
from paceline.routes import route_names
from paceline.table import Row, Table

_PAST = "what its batches leased and consumed is taken from their rows, and can no longer be counted from messages"

# How often a row is read in the hope of a quiet moment, before it is judged with what is under way.
MAX_LOOKS = 8


@dataclass(slots=True)
class Verdict:
    """What a shared row says, and what it should by the rows of its movements. moving: so many were under way."""

    key: keys.Key
    found: dict[str, int]
    expected: dict[str, int]
    is_right: bool
    moving: int = 0


@dataclass(slots=True)
class CampaignRecount:
    """One campaign: what it holds and consumed by its rows, and what differs, batch by batch."""

    campaign: Campaign
    batches: int
    reserved: int
    consumed: int
    differences: list[Difference] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True)
class AccountRecount:
    """One account: its row, and what that should be by its messages (expected)."""

    account_id: str
    found: dict[str, int]
    expected: dict[str, int]
    moving: int
    campaigns: list[CampaignRecount]
    differences: list[Difference] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)


@dataclass(slots=True)
class Recount:
    """All that was recounted. days: routes' days, told only where every account was recounted."""

    accounts: list[AccountRecount]
    days: list[Difference] = field(default_factory=list)
    days_counted: int = 0
    corrections: list[Correction] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        return bool(self.days) or any(
            account.differences or any(one.differences for one in account.campaigns) for account in self.accounts
        )


def recount(
    table: Table, store: ObjectStore, account_id: str | None, now: datetime, on_progress: Progress | None = None
) -> Recount:
    """Recount one account, or all of them and the days of every route. It only reads.

    Of a campaign whose messages are no longer kept (kept_until), leases and settlements are counted as they stand.
    Raises: RequestInvalid, where there is no such account.
    """
    if account_id is not None:
        get_account(table, account_id)
    reader = Reader(table, store, now, on_progress) if on_progress else Reader(table, store, now)
    names = [account_id] if account_id is not None else account_ids(table)
    books = [reader.read(name) for name in names]
    verdicts = _judge(reader, books, route_names(table) if account_id is None else [])
    accounts = [_account(book, verdicts, now) for book in books]
    of_routes = [verdict for key, verdict in verdicts.items() if key[0].startswith("ROUTE#")]
    wrong = [verdict for verdict in of_routes if not verdict.is_right]
    return Recount(
        accounts,
        [_day_difference(verdict) for verdict in wrong],
        len(of_routes),
        [_day_correction(verdict) for verdict in wrong if not verdict.moving],
    )


def _judge(reader: Reader, books: Sequence[AccountBook], routes: Sequence[str]) -> dict[keys.Key, Verdict]:
    """Return a verdict on every shared row: at a quiet moment where there is one."""
    verdicts: dict[keys.Key, Verdict] = {}
    before = _look(reader, books)
    for _ in range(MAX_LOOKS):
        rows = _shared_rows(reader.table, books, routes, before)
        after = _look(reader, books)
        sums, moved = total(before), between(before, after)
        for key, row in rows.items():
            earlier = verdicts.get(key)
            if earlier is not None and not earlier.moving:
                continue  # judged at a quiet moment
            verdict = _verdict(key, row, sums, moved)
            if earlier is not None and not earlier.is_right and verdict.moving and verdict.is_right:
                continue  # once it could not be explained: only a quiet moment says better
            verdicts[key] = verdict
        if all(not verdict.moving for verdict in verdicts.values()):
            break
        before = after
    return verdicts


def _look(reader: Reader, books: Sequence[AccountBook]) -> Movements:
    found: Movements = {}
    for book in books:
        reader.look_again(book)
        found |= book.movements()
    return found


def _shared_rows(
    table: Table, books: Sequence[AccountBook], routes: Sequence[str], movements: Movements
) -> dict[keys.Key, Row]:
    """Return the accounts' rows and every day's; a day that should be there and is not, as an empty row."""
    partitions = [keys.account(book.account_id)[0] for book in books] + [keys.route(name)[0] for name in routes]
    wanted = {key for amounts in movements.values() for key, _ in amounts if key[0] in partitions}
    rows: dict[keys.Key, Row] = {key: {} for key in wanted}
    for partition in partitions:
        for row in table.query(partition):
            if row["sk"] == "ACCOUNT" or row["sk"].startswith("DAY#"):
                rows[row["pk"], row["sk"]] = row
    return rows


def _verdict(key: keys.Key, row: Row, sums: Amounts, moved: Sequence[Amounts]) -> Verdict:
    names = ["reserved", "consumed"] if key[1] == "ACCOUNT" else ["used"]
    if (key, "bought") in sums:
        names.append("bought")
    found = {name: int(row.get(name, 0)) for name in names}
    expected = {name: sums.get((key, name), 0) for name in names}
    moves = [tuple(one.get((key, name), 0) for name in names) for one in moved]
    moves = [move for move in moves if any(move)]
    is_right = may_be(tuple(expected.values()), moves, tuple(found.values()))
    if moves and is_right:
        expected = dict(found)  # the sum and some of what was under way
    if key[1] == "ACCOUNT":
        bought = expected.setdefault("bought", row.get("bought", 0))
        found |= {"available": row.get("available", 0), "bought": row.get("bought", 0)}
        expected["available"] = bought - expected["reserved"] - expected["consumed"]
        is_right = is_right and found == expected
    return Verdict(key, found, expected, is_right, len(moves))


# -- in words -----------------------------------------------------------------------------------------------------


def _account(book: AccountBook, verdicts: dict[keys.Key, Verdict], now: datetime) -> AccountRecount:
    """Return the account's recount: its verdicts by the rows of its batches, and these by their messages."""
    verdict = verdicts[keys.account(book.account_id)]
    campaigns, corrections = _campaigns(book, now)
    by_messages = dict(verdict.expected)
    for correction in corrections:
        for (key, name), amount in correction.moves.items():
            if key == verdict.key:
                by_messages[name] += amount
    result = AccountRecount(book.account_id, verdict.found, by_messages, verdict.moving, campaigns)
    if verdict.found != by_messages:
        why = fits.explain(book, verdict.found, verdict.expected) if not verdict.is_right else "see its batches"
        result.differences = _numbers(verdict, by_messages, why)
    if not verdict.is_right and not verdict.moving:
        moves = {(verdict.key, n): verdict.expected[n] - verdict.found[n] for n in verdict.found}
        result.corrections.append(Correction(f"account {book.account_id}", moves=moves))
    days = [v for key, v in verdicts.items() if key[0] == verdict.key[0] and key[1] != "ACCOUNT" and not v.is_right]
    result.differences += [_day_difference(day) for day in days]
    result.corrections += [*corrections, *(_day_correction(day) for day in days if not day.moving)]
    return result


def _numbers(verdict: Verdict, expected: dict[str, int], why: str) -> list[Difference]:
    under_way = f"; {verdict.moving} movements were under way" if verdict.moving else ""
    can = not verdict.moving and expected["available"] >= 0
    if expected["available"] < 0:
        under_way += "; its messages took more than was bought: no write of ours can mend that"
    return [
        Difference("", name, expected[name], verdict.found[name], why + under_way, can)
        for name in ("available", "reserved", "consumed", "bought")
        if expected[name] != verdict.found[name]
    ]


def _campaigns(book: AccountBook, now: datetime) -> tuple[list[CampaignRecount], list[Correction]]:
    found, corrections = [], []
    for one in book.campaigns.values():
        account = keys.account(book.account_id)
        result = CampaignRecount(one.campaign, len(one.batches), 0, 0)
        if one.is_past(now):
            result.notes.append(Note("its messages", f"kept until {one.campaign.kept_until:%Y-%m-%d}: {_PAST}"))
        for batch in one.batches.values():
            sums = total(of_batch(book.account_id, batch.batch, batch.leases, batch.summary))
            result.reserved += sums.get((account, "reserved"), 0)
            result.consumed += sums.get((account, "consumed"), 0)
            result.differences += batch.check.differences
            result.notes += batch.check.notes
            title = f"campaign {one.campaign.campaign_id}, {name_of(batch.batch)}"
            if correction := batch.check.correction(title):
                corrections.append(correction)
        found.append(result)
    return found, corrections


def _day_difference(verdict: Verdict) -> Difference:
    kind, _, name = verdict.key[0].partition("#")
    where = f"{kind.lower()} {name}, {verdict.key[1].removeprefix('DAY#')}"
    why = "the sum of the leases of that day, without what they gave back"
    if verdict.moving:
        why += f"; {verdict.moving} movements were under way"
    return Difference(where, "parts used", verdict.expected["used"], verdict.found["used"], why, not verdict.moving)


def _day_correction(verdict: Verdict) -> Correction:
    difference = verdict.expected["used"] - verdict.found["used"]
    return Correction(_day_difference(verdict).where, moves={(verdict.key, "used"): difference})
