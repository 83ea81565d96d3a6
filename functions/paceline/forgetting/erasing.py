"""The erasing itself, in an order that can be killed anywhere: run again, it finds what is left by the same number.

First what it does, without the number; then the rows that are found by the leads; then the objects, those of the leads
last, since by them the rows are found; then the person's own rows. An object is written anew before its versions go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from paceline import keys
from paceline.audit import Signature, audit_row
from paceline.campaigns import get_plan
from paceline.errors import PacelineError
from paceline.forgetting.judging import Busy, busy
from paceline.forgetting.objects import WHOLE, is_lead_file, without
from paceline.forgetting.rows import forget_messages, forget_recipient
from paceline.forgetting.search import CampaignTraces, Progress, Traces, search
from paceline.forgetting.spellings import Person
from paceline.models import Batch, JsonObject
from paceline.moments import iso
from paceline.opt_outs import opt_out
from paceline.ports import StoredVersion, VersionedStore
from paceline.table import Table, Update

SUBJECT = "FORGETTING"
_BATCHES = TypeAdapter(list[Batch])


class StillThere(PacelineError):
    """Something wrote the person anew while it was erased."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was found, and erased where no campaign is busy."""

    found: list[Traces]
    busy: list[Busy]


def forget(
    table: Table,
    store: VersionedStore,
    person: Person,
    account_id: str | None,
    signature: Signature,
    *,
    opts_out: bool = False,
    on_progress: Progress | None = None,
) -> Forgotten:
    """Erase a person from one account, or from all. Nothing is erased while a campaign still needs the person.

    opts_out: let the accounts that know the person write to it no more, first. Safe to repeat.
    Raises: StillThere; RequestInvalid, where there is no such account; ServiceFault, TransactionConflict.
    """
    found = search(table, store, person, account_id, on_progress)
    for traces in found if opts_out else ():
        if not traces.has_opted_out:
            opt_out(table, traces.account_id, person.phone_number, iso(signature.at), "api")
            traces.has_opted_out = True
    waiting = busy(table, found, signature.at)
    if waiting:
        return Forgotten(found, waiting)
    dirty = [traces for traces in found if not traces.is_empty]
    if dirty:
        note = audit_row(SUBJECT, signature, _told(dirty))
        table.put(note)
        for traces in dirty:
            _erase(table, store, person, traces)
        left = search(table, store, person, account_id, on_progress)
        if any(not traces.is_empty for traces in left):
            raise StillThere("Somebody wrote the person anew meanwhile. Run it again.")
        key = keys.audit(SUBJECT, iso(signature.at), signature.request_id)
        table.update(Update(key, "SET #is_done = :yes", {"yes": True}))
    return Forgotten(found, [])


def _told(found: Sequence[Traces]) -> dict[str, JsonObject]:
    """Return for the trail which campaigns and which of their leads are forgotten: never the number."""
    told: dict[str, JsonObject] = {}
    for traces in found:
        for one in traces.campaigns:
            what = {"leads": sorted(one.leads), "objects": len(one.objects)}
            told[f"account {traces.account_id}, campaign {one.campaign_id}"] = {"before": what, "after": "forgotten"}
        if traces.rows:
            told[f"account {traces.account_id}, rows"] = {"before": len(traces.rows), "after": "forgotten"}
    return told


def _erase(table: Table, store: VersionedStore, person: Person, traces: Traces) -> None:
    for one in traces.campaigns:
        if one.leads:
            forget_messages(table, one.campaign_id, _batches(table, store, one))
        for key in _in_order(store, one):
            _erase_object(store, person, key, set(one.leads))
    if traces.rows:
        forget_recipient(table, traces.account_id, person.phone_number)


def _batches(table: Table, store: VersionedStore, one: CampaignTraces) -> dict[int, list[str]]:
    """Return for each lead the batches of the object that it is in, as the plan has them that was kept."""
    if (plan := get_plan(table, one.campaign_id)) is None:
        return {}
    listed: dict[str, list[str]] = {}
    for version in store.versions(plan.batches_manifest_key):
        if version.is_latest and not version.is_marker:
            for batch in _BATCHES.validate_json(store.read_version(version)):
                listed.setdefault(batch.leads_key, []).append(batch.batch_id)
    return {no: [batch for key in found for batch in listed.get(key, [])] for no, found in one.leads.items()}


def _in_order(store: VersionedStore, one: CampaignTraces) -> list[str]:
    """Return the objects to erase, those of the leads last: also the lists that name the leads' messages, and of a dry
    run all that it wrote, for half of one is none.
    """
    reports = store.versions(f"campaigns/{one.campaign_id}/report/") if one.leads else ()
    found = {version.key for version in reports if version.key.endswith("/differences.csv")}
    dry_runs = {key.rpartition("/")[0] for key in one.objects if key.startswith("dry-runs/")}
    found |= {version.key for prefix in dry_runs for version in store.versions(f"{prefix}/")}
    return sorted(found.union(one.objects), key=lambda key: (is_lead_file(key), key))


def _erase_object(store: VersionedStore, person: Person, key: str, lead_nos: set[int]) -> None:
    versions = [version for version in store.versions(key) if version.key == key]
    current = next((version for version in versions if version.is_latest and not version.is_marker), None)
    kept = "" if current is None or key.startswith(WHOLE) else _cleaned(store, person, current, lead_nos)
    store.erase(version for version in versions if version.version_id != kept)


def _cleaned(store: VersionedStore, person: Person, current: StoredVersion, lead_nos: set[int]) -> str:
    """Write the object without the person, unless it is; return the version that stays."""
    body = store.read_version(current)
    clean = without(current.key, body, person, lead_nos)
    return current.version_id if clean == body else store.write_over(current, clean)
