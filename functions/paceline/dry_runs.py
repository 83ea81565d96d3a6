"""Dry runs: what a start now would do, planned beside the campaign and kept for whoever asks. Nothing else changes.

One row a campaign says how its last dry run stands; the plan and its rejects.csv are in the bucket. A million rows take
longer than an HTTP API waits, so a large file is planned by a function that nobody waits for.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import BinaryIO

from pydantic import AwareDatetime

from paceline import errors, keys
from paceline.campaigns import get_campaign
from paceline.errors import PacelineError, ServiceUnavailable
from paceline.excluded import by_reason
from paceline.models import Campaign, JsonObject, Model, Plan
from paceline.ports import DryRunner, ObjectStore, StoredObject
from paceline.starting import on_accounts_terms, planned_now
from paceline.table import ConditionFailed, Put, Table, Update

# About 30,000 rows, so 2 seconds of the API's function; it has 29.
MOST_BYTES_AT_ONCE = 2_000_000
# What is packed (gzip, a workbook) holds about so many times its size.
_UNPACKED = 20
_PACKED = (b"\x1f\x8b", b"PK")

# The function has 15 minutes: whatever was begun longer ago will not end any more.
LOST_AFTER = timedelta(minutes=16)


class Stage(StrEnum):
    """How a dry run stands."""

    PLANNING = "planning"
    READY = "ready"
    FAILED = "failed"


class DryRun(Model):
    """A campaign's last dry run. lead_file: which version of it (an ETag). problem: why it failed."""

    campaign_id: str
    dry_run_id: str
    lead_file: str
    asked_at: AwareDatetime
    stage: Stage = Stage.PLANNING
    problem: JsonObject | None = None

    @property
    def prefix(self) -> str:
        """Where its files are in the bucket."""
        return f"dry-runs/{self.campaign_id}/{self.dry_run_id}/"

    def is_under_way(self, now: datetime) -> bool:
        return self.stage is Stage.PLANNING and now - self.asked_at < LOST_AFTER

    def error(self) -> PacelineError | None:
        """Return why it failed."""
        if self.problem is None:
            return None
        kind: type[PacelineError] = getattr(errors, self.problem["error"])
        return kind(self.problem["message"], **self.problem["evidence"])


class Planned(Model):
    """What a dry run found. plan: its rejects_key is there, its manifests were not written. excluded: by reason."""

    plan: Plan
    excluded: list[JsonObject]


@dataclass(frozen=True, slots=True)
class _DryRunStore:
    """The store of a dry run: reads are real; of the writes, only the list of who is excluded is kept, at `prefix`."""

    store: ObjectStore
    bucket: str
    prefix: str
    kept: dict[str, bytes] = field(default_factory=dict)

    def open(self, key: str) -> BinaryIO:
        return self.store.open(key)

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        return self.store.get(key, first_byte, last_byte)

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        if key.endswith("/rejects.csv"):
            self.kept["rejects.csv"] = body
            self.store.put(f"{self.prefix}rejects.csv", body, content_type)


def is_planned_at_once(file: StoredObject) -> bool:
    """Tell whether a lead file is small enough to be planned while its customer waits."""
    return file.size * (_UNPACKED if file.head.startswith(_PACKED) else 1) <= MOST_BYTES_AT_ONCE


def find_dry_run(table: Table, campaign_id: str) -> DryRun | None:
    """Return the campaign's last dry run, or None."""
    row = table.get(keys.dry_run(campaign_id))
    return DryRun.model_validate_json(row["dry_run"]) if row else None


def begin_dry_run(
    table: Table,
    store: ObjectStore,
    runner: DryRunner,
    campaign: Campaign,
    file: StoredObject,
    named: str,
    now: datetime,
) -> DryRun:
    """Plan the campaign, at once where its file is small, else by `runner`; return how that stands.

    While the same file is being planned, nothing is begun anew. named: an id that no dry run had.
    """
    last = find_dry_run(table, campaign.campaign_id)
    if last is not None and last.is_under_way(now) and last.lead_file == file.etag:
        return last
    begun = DryRun(campaign_id=campaign.campaign_id, dry_run_id=named, lead_file=file.etag, asked_at=now)
    pk, sk = keys.dry_run(campaign.campaign_id)
    table.put(Put({"pk": pk, "sk": sk, "dry_run_id": named, "dry_run": begun.model_dump_json()}))
    if is_planned_at_once(file):
        return carry_out(table, store, begun)
    try:
        runner.begin(begun.campaign_id, begun.dry_run_id)
    except PacelineError as error:  # so that who asks again begins anew
        _ended(table, begun, error)
        raise
    return begun


def carry_out(table: Table, store: ObjectStore, begun: DryRun) -> DryRun:
    """Plan the campaign and keep what is found, or why nothing can be; return how the dry run stands then.

    One that another was begun after is kept, and found by nobody.
    """
    try:
        planned = dry_run(table, store, get_campaign(table, begun.campaign_id), begun.prefix)
        store.put(f"{begun.prefix}plan.json", planned.model_dump_json(by_alias=True).encode())
    except PacelineError as error:
        return _ended(table, begun, error)
    except Exception as error:  # whatever it was: who asks again must not be told for long that it is under way
        _ended(table, begun, ServiceUnavailable("the planning broke off", code=type(error).__name__))
        raise
    return _ended(table, begun, None)


def dry_run(table: Table, store: ObjectStore, campaign: Campaign, prefix: str) -> Planned:
    """Return the plan that a start now would make; of its files, keep rejects.csv at `prefix`.

    Raises: as `plan_campaign`.
    """
    dry = _DryRunStore(store, store.bucket, prefix)
    plan = planned_now(table, dry, on_accounts_terms(table, campaign))
    kept = plan.model_copy(update={"rejects_key": f"{prefix}rejects.csv"})
    return Planned(plan=kept, excluded=by_reason(dry.kept["rejects.csv"]))


def planned_by(store: ObjectStore, ready: DryRun) -> Planned:
    """Return what a dry run found. Raises: ObjectNotFound, where it is too old to be kept."""
    return Planned.model_validate_json(store.get(f"{ready.prefix}plan.json"))


def _ended(table: Table, begun: DryRun, error: PacelineError | None) -> DryRun:
    stage, problem = Stage.READY, None
    if error is not None:
        stage = Stage.FAILED
        problem = {"error": type(error).__name__, "message": str(error), "evidence": error.evidence}
    ended = begun.model_copy(update={"stage": stage, "problem": problem})
    values = {"named": begun.dry_run_id, "ended": ended.model_dump_json()}
    key = keys.dry_run(begun.campaign_id)
    with suppress(ConditionFailed):  # another was begun after it: that one is the campaign's last
        table.update(Update(key, "SET #dry_run = :ended", values, condition="#dry_run_id = :named"))
    return ended
