"""Where a person is: every version of every object of an account is read, and the rows that have the number as key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from paceline import keys
from paceline.accounts import account_ids, get_account
from paceline.errors import LeadFileInvalid, ObjectNotFound
from paceline.forgetting.objects import is_lead_file, leads_of, mentions
from paceline.forgetting.spellings import Person
from paceline.ports import StoredVersion, VersionedStore
from paceline.table import Table

Progress = Callable[[str, int, int], None]
"""Told how far an account's objects are read: account id, read, of how many."""


@dataclass(slots=True)
class CampaignTraces:
    """What one campaign has of the person. objects: keys; leads: their leads, each with the keys of its objects:
    a planning whose answer was lost left some beside those of the plan that was kept.
    """

    campaign_id: str
    objects: list[str] = field(default_factory=list)
    leads: dict[int, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Traces:
    """What one account has of the person. unreadable: uploads that cannot be searched; has_opted_out: that is kept."""

    account_id: str
    campaigns: list[CampaignTraces] = field(default_factory=list)
    rows: list[keys.Key] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    has_opted_out: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.campaigns or self.rows)


@dataclass(frozen=True, slots=True)
class Seeker:
    """Reads what an account has."""

    table: Table
    store: VersionedStore
    person: Person
    on_progress: Progress = lambda account_id, read, of: None

    def traces(self, account_id: str) -> Traces:
        found = Traces(account_id)
        campaigns = [row["campaign_id"] for row in self.table.query(keys.account_campaigns(account_id))]
        prefixes = {name: self._prefixes(account_id, name) for name in campaigns}
        versions = {name: [v for prefix in prefixes[name] for v in self.store.versions(prefix)] for name in campaigns}
        read, total = 0, sum(map(len, versions.values()))
        for campaign_id in campaigns:
            traces = CampaignTraces(campaign_id)
            for key, group in groupby(versions[campaign_id], key=lambda version: version.key):
                of_key = list(group)
                self._look_into(key, of_key, traces, found)
                read += len(of_key)
                self.on_progress(account_id, read, total)
            if traces.objects:
                found.campaigns.append(traces)
        self._look_at_rows(found)
        return found

    @staticmethod
    def _prefixes(account_id: str, campaign_id: str) -> Sequence[str]:
        return f"uploads/{account_id}/{campaign_id}/", f"dry-runs/{campaign_id}/", f"campaigns/{campaign_id}/"

    def _look_into(self, key: str, versions: list[StoredVersion], traces: CampaignTraces, found: Traces) -> None:
        for version in versions:
            if version.is_marker:
                continue
            try:
                body = self.store.read_version(version)
                if not mentions(key, body, self.person):
                    continue
            except ObjectNotFound:  # its time ended meanwhile
                continue
            except LeadFileInvalid:
                found.unreadable.append(key)
                continue
            if key not in traces.objects:
                traces.objects.append(key)
            if is_lead_file(key):
                for lead_no in leads_of(body, self.person):
                    traces.leads.setdefault(lead_no, []).append(key)

    def _look_at_rows(self, found: Traces) -> None:
        number = self.person.phone_number
        recipient = self.table.get(keys.recipient(found.account_id, number)) or {}
        found.has_opted_out = "opted_out_at" in recipient
        if recipient.keys() - {"pk", "sk", "opted_out_at"}:
            found.rows.append(keys.recipient(found.account_id, number))
        if self.table.get(keys.carrier(found.account_id, number)) is not None:
            found.rows.append(keys.carrier(found.account_id, number))


def search(
    table: Table, store: VersionedStore, person: Person, account_id: str | None, on_progress: Progress | None = None
) -> list[Traces]:
    """Return what accounts have of a person: one account, or every one that has anything. It only reads.

    Raises: RequestInvalid, where there is no such account.
    """
    if account_id is not None:
        get_account(table, account_id)
    seeker = Seeker(table, store, person, on_progress) if on_progress else Seeker(table, store, person)
    names = [account_id] if account_id is not None else account_ids(table)
    found = map(seeker.traces, names)
    return [one for one in found if not one.is_empty or one.has_opted_out or one.unreadable]
