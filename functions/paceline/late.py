"""Late words: receipts that change a message which was final. They change money and reports, so each leaves a note.

The note is a row of the message's own, written with the message's row or not at all. The next report takes it up: it
moves the credits, lists the difference, and marks the note with its version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from paceline import keys, rows
from paceline.errors import TransactionConflict
from paceline.models import Message
from paceline.moments import iso
from paceline.status import MessageStatus
from paceline.table import ConditionFailed, Put, Row, Table, TransactionRefused, Update

# Two receipts of one message at one moment are as much as ever meets here.
MAX_TRIES = 4


@dataclass(frozen=True, slots=True)
class Note:
    """What a message's outcome was before late words changed it. at: of the last of them."""

    batch_id: str
    lead_no: int
    status: MessageStatus
    cause: str
    at: str


def write_late(table: Table, update: Update, message_id: str, now: datetime) -> bool:
    """Change a final message and note what it was. Return whether it changed.

    The note of a change that no report has taken up yet stays: it says what the last report says.
    Raises: TransactionConflict, TableThrottled.
    """
    key = keys.late(*keys.parse_message_id(message_id))
    for _ in range(MAX_TRIES):
        message, noted = table.get(update.key), table.get(key)
        if message is None or message["rank"] >= update.values["rank"]:
            return False
        try:
            table.transact([update, _note(key, rows.to_message(message), noted, now)])
            return True
        except TransactionRefused:  # another receipt, or a report, was here between: look again
            continue
    raise TransactionConflict("the message changed under every try", message_id=message_id)


def _note(key: keys.Key, before: Message, noted: Row | None, now: datetime) -> Put | Update:
    if noted is not None and "version" not in noted:
        return Update(key, "SET #at = :at", {"at": iso(now)}, condition="attribute_not_exists(#version)")
    was = {"batch_id": before.batch_id, "lead_no": before.lead_no, "status": before.status.value, "cause": before.cause}
    row = {"pk": key[0], "sk": key[1], **was, "at": iso(now)}
    return Put(row, condition="attribute_not_exists(#pk) OR attribute_exists(#version)")


def is_noted(table: Table, message_id: str) -> bool:
    """Tell whether a message has a late change that no report has taken up yet."""
    row = table.get(keys.late(*keys.parse_message_id(message_id)))
    return row is not None and "version" not in row


def unreported(table: Table, campaign_id: str) -> set[tuple[str, int]]:
    """Return (batch, lead) of each late change that no report has taken up."""
    found = table.query(*keys.late_notes(campaign_id))
    return {(row["batch_id"], row["lead_no"]) for row in found if "version" not in row}


def notes_for(table: Table, campaign_id: str, version: int) -> Iterator[Note]:
    """Yield the notes that no report has taken up, and those that this version has: a repeated call yields the same."""
    for row in table.query(*keys.late_notes(campaign_id)):
        if row.get("version", version) == version:
            yield Note(row["batch_id"], row["lead_no"], MessageStatus(row["status"]), row["cause"], row["at"])


def take_up(table: Table, campaign_id: str, note: Note, version: int) -> None:
    """Mark a note as taken up by a version of the report; one that changed since it was read waits for the next."""
    key = keys.late(campaign_id, note.batch_id, note.lead_no)
    values = {"version": version, "at": note.at}
    try:
        table.update(Update(key, "SET #version = :version", values, condition="#at = :at"))
    except ConditionFailed:
        return
