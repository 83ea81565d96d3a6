"""What a batch's rows say: its leases, its messages, and the summary that operators and the report read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from paceline import keys, rows
from paceline.errors import ObjectNotFound
from paceline.leads.lines import leads_from_lines
from paceline.leads.numbers import numbered_leads
from paceline.models import Batch, Lead, Message
from paceline.moments import iso
from paceline.ports import ObjectStore
from paceline.table import ConditionFailed, Row, Table, Update


@dataclass(frozen=True, slots=True)
class Ledger:
    """A batch's partition, read at once: the truth about which leads are done."""

    leases: dict[int, Row]
    messages: dict[int, Message]

    def is_done(self, lead_no: int) -> bool:
        """Tell whether a lead has a message that is not left to be sent once more."""
        message = self.messages.get(lead_no)
        return message is not None and not message.is_due


def read_ledger(table: Table, campaign_id: str, batch_id: str) -> Ledger:
    """Return the batch's leases by round and its messages by lead_no."""
    leases: dict[int, Row] = {}
    messages: dict[int, Message] = {}
    for row in table.query(keys.batch_partition(campaign_id, batch_id)):
        if row["sk"].startswith("LEASE#"):
            leases[row["round"]] = row
        else:
            messages[row["lead_no"]] = rows.to_message(row)
    return Ledger(leases, messages)


def read_leads(store: ObjectStore, batch: Batch) -> list[Lead]:
    """Return the batch's leads that can be read, in the order of the file; of an object that is gone none can."""
    try:
        return _parsed(store.get(batch.leads_key, batch.first_byte, batch.last_byte))
    except ObjectNotFound:
        return []


def find_lead(store: ObjectStore, batch: Batch, lead_no: int) -> Lead | None:
    """Return one of the batch's leads; None, where it cannot be read."""
    return next((lead for lead in read_leads(store, batch) if lead.lead_no == lead_no), None)


def find_number(store: ObjectStore, batch: Batch, lead_no: int) -> Lead:
    """Return one of the batch's leads without phone number and text. Raises: ObjectNotFound, where nobody knows it."""
    for lead in numbered_leads(store, batch.leads_key, batch.batch_id):
        if lead.lead_no == lead_no:
            return lead
    raise ObjectNotFound(f"Batch {batch.batch_id} has no lead {lead_no}.", key=batch.leads_key)


def unreadable_leads(store: ObjectStore, batch: Batch, leads: Sequence[Lead]) -> list[Lead]:
    """Return the batch's leads that are not among those that could be read, without phone number and text.

    Raises: ObjectNotFound, where nobody knows any more which they are.
    """
    if len(leads) == batch.leads:
        return []
    read = {lead.lead_no for lead in leads}
    return [lead for lead in numbered_leads(store, batch.leads_key, batch.batch_id) if lead.lead_no not in read]


def read_all_leads(store: ObjectStore, batches: Iterable[Batch]) -> Iterator[tuple[Batch, list[Lead]]]:
    """Yield batches with their leads, as they are now: each object is read once, whole, and not remembered.

    What a warm function remembers of a batch may have somebody in it who was forgotten since.
    """
    objects: dict[str, bytes] = {}
    for batch in batches:
        if batch.leads_key not in objects:
            objects = {batch.leads_key: _object(store, batch.leads_key)}
        yield batch, list(leads_from_lines(objects[batch.leads_key][batch.first_byte : batch.last_byte + 1]))


def _object(store: ObjectStore, key: str) -> bytes:
    """Return an object of leads; of one that is gone nothing."""
    try:
        return store.get(key)
    except ObjectNotFound:
        return b""


@lru_cache(maxsize=128)
def _parsed(lines: bytes) -> list[Lead]:
    """Every send of a batch reads the same bytes: a warm function parses them once. Nobody changes the list."""
    return list(leads_from_lines(lines))


def summarize(
    table: Table,
    campaign_id: str,
    batch_id: str,
    now: datetime,
    *,
    condition: str = "",
    limit: int | None = None,
    **values: Any,
) -> None:
    """Set values of the batch's summary row, which has one writer: the batch's own workflow.

    condition, limit (as :limit): what keeps a function out whose caller let it go long ago; it writes nothing then.
    """
    values["updated_at"] = iso(now)
    sets = ", ".join(f"#{name} = :{name}" for name in values)
    if limit is not None:
        values["limit"] = limit
    with suppress(ConditionFailed):
        table.update(Update(keys.batch(campaign_id, batch_id), f"SET {sets}", values, condition))


def batch_summaries(table: Table, campaign_id: str) -> list[Row]:
    """Return the summary row of every batch that has begun, by batch id."""
    return list(table.query(keys.campaign(campaign_id)[0], "BATCH#"))
