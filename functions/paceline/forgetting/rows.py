"""What rows say of a person. Counts, outcomes and an opt-out stay; numbers, and the provider's ids of messages, go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress

from paceline import keys, rows
from paceline.batches import batch_summaries
from paceline.forgetting.spellings import FORGOTTEN
from paceline.table import ConditionFailed, Delete, Row, Table, Update


def forget_messages(table: Table, campaign_id: str, batches: Mapping[int, Sequence[str]]) -> None:
    """Take the provider's ids out of the messages of leads, and their raw callbacks out of the inbox.

    batches: of each lead those of its object (100 at most); the lead's message is in one of them.
    """
    for lead_no, batch_ids in sorted(batches.items()):
        for row in table.get_many([keys.message(campaign_id, batch_id, lead_no) for batch_id in batch_ids]):
            if row.get("provider_message_id", FORGOTTEN) != FORGOTTEN:
                _forget_message(table, rows.key_of(row), row)
            partition, prefix = keys.inbox(keys.message_id(campaign_id, row["batch_id"], lead_no), "")
            for raw in list(table.query(partition, prefix)):
                table.delete(Delete(rows.key_of(raw)))
    _forget_differences(table, campaign_id, batches.keys())


def _forget_message(table: Table, key: keys.Key, row: Row) -> None:
    """That the provider took it stays: it is charged for that. A receipt that comes between is not written over."""
    rank = row["rank"].replace(f"#{row['provider_message_id']}", f"#{FORGOTTEN}")
    values = {"id": FORGOTTEN, "rank": rank, "was": row["rank"]}
    expression = "SET #provider_message_id = :id, #rank = :rank"
    with suppress(ConditionFailed):
        table.update(Update(key, expression, values, condition="#rank = :was"))


def _forget_differences(table: Table, campaign_id: str, lead_nos: Set[int]) -> None:
    """What the provider's book had that ours had not is listed by message id, in the batch's row."""
    for summary in batch_summaries(table, campaign_id):
        was = summary.get("differences", [])
        new = [{**one, "provider_message_id": FORGOTTEN} if one["lead_no"] in lead_nos else one for one in was]
        if new != was:
            table.update(Update(rows.key_of(summary), "SET #differences = :new", {"new": new}))


def forget_recipient(table: Table, account_id: str, phone_number: str) -> None:
    """Delete the person's own rows; of somebody who opted out only that stays."""
    table.delete(Delete(keys.carrier(account_id, phone_number)))
    key = keys.recipient(account_id, phone_number)
    with suppress(ConditionFailed):
        return table.delete(Delete(key, condition="attribute_not_exists(#opted_out_at)"))
    with suppress(ConditionFailed):  # a START came between: the next look finds the row
        table.update(Update(key, "REMOVE #recent, #expires_at", condition="attribute_exists(#opted_out_at)"))
