"""Answers to operators: accounts, keys, and who changed what."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from api.answers import Answer
from paceline.models import Account
from paceline.status import CampaignStatus


class AccountsAnswer(Answer):
    """One page, by id. next: `after` of the next page; null: this is the last."""

    accounts: list[Account]
    next: str | None


class DayUse(Answer):
    """How much of its own day cap an account has used, in the day of the routes with this time zone."""

    time_zone: str
    used: int
    limit: int
    resets_at: AwareDatetime


class AccountAnswer(Account):
    """day_use: of its own day cap; none, where it has no cap."""

    day_use: list[DayUse]


class LedgerEntry(Answer):
    """kind `bought`: bought, by (a key's id), by_name. kind `campaign`, at its creation: the others, in credits.

    reserved: held now. consumed, released: for good, but for late receipts. waived: owed, and not there to be taken.
    """

    at: AwareDatetime
    kind: Literal["bought", "campaign"]
    bought: int | None
    by: str | None
    by_name: str | None
    campaign_id: str | None
    name: str | None
    status: CampaignStatus | None
    reserved: int | None
    consumed: int | None
    released: int | None
    waived: int | None


class LedgerAnswer(Answer):
    """One page, the newest first. next: `after` of the next page; null: this is the last."""

    account_id: str
    entries: list[LedgerEntry]
    next: str | None


class ChangedAccountAnswer(Account):
    """released_batches: how many that waited for the account go on."""

    released_batches: int


class ChangeEntry(Answer):
    """One change: at, by which key (its id and name), field → before and after."""

    at: AwareDatetime
    by: str
    by_name: str
    changes: dict[str, Any]
    request_id: str


class AccountChangesAnswer(Answer):
    account_id: str
    changes: list[ChangeEntry]


class RouteChangesAnswer(Answer):
    route: str
    changes: list[ChangeEntry]


class RevealedAnswer(Answer):
    """One lead, as its message was rendered. That it was looked at is in the account's changes: `lead revealed`."""

    campaign_id: str
    lead_no: int
    phone_number: str
    text: str


class NewKeyAnswer(Answer):
    """api_key: shown this once."""

    api_key: str
    key_id: str
    name: str
    account_id: str
    scope: str


class KeyAnswer(Answer):
    key_id: str
    account_id: str
    scope: str
    name: str
    created_at: AwareDatetime | None
    created_by: str | None
    revoked_at: AwareDatetime | None
    revoked_by: str | None


class KeysAnswer(Answer):
    account_id: str
    keys: list[KeyAnswer]
