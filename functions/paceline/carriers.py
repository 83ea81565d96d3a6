"""Which carrier a number has, where the lead file does not say: a customer's own table stands in for a look-up service.

Rows of their own, not in the recipients' rows: an import of many numbers must not conflict with their sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from paceline import keys
from paceline.leads.phone import PhoneNumber, Refusal, normalise
from paceline.moments import iso
from paceline.retention import expiry
from paceline.table import Put, Table

_ROWS_AT_ONCE = 100  # a transaction takes 100 actions


@dataclass(slots=True)
class ImportedCarriers:
    """What became of imported rows. refused: (row number, why)."""

    added: int = 0
    refused: list[tuple[int, Refusal]] = field(default_factory=list)


def import_carriers(
    table: Table, account_id: str, rows: Iterable[tuple[int, str, str]], at: datetime, days: int
) -> ImportedCarriers:
    """Keep an account's carriers: (row number, phone number in any spelling, carrier). A later row wins.

    days: for how many. Raises: TransactionConflict, TableThrottled; what was kept before stays kept.
    """
    imported, pending = ImportedCarriers(), iter(rows)
    while rows_read := list(islice(pending, _ROWS_AT_ONCE)):
        kept: dict[str, str] = {}
        for row_number, written, carrier in rows_read:
            number = normalise(written)
            if isinstance(number, PhoneNumber):
                kept[number.e164] = carrier.strip()
            else:
                imported.refused.append((row_number, number))
        if kept:
            table.transact([_row(account_id, number, carrier, at, days) for number, carrier in kept.items()])
        imported.added += len(kept)
    if imported.added:
        pk, sk = keys.has_carriers(account_id)
        table.put(Put({"pk": pk, "sk": sk, "imported_at": iso(at)}))
    return imported


def _row(account_id: str, phone_number: str, carrier: str, at: datetime, days: int) -> Put:
    pk, sk = keys.carrier(account_id, phone_number)
    return Put({"pk": pk, "sk": sk, "carrier": carrier, "imported_at": iso(at), **expiry(at + timedelta(days=days))})


class TableCarriers:
    """`paceline.ports.CarrierLookUp` from what the account imported."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._has_any: dict[str, bool] = {}

    def carriers_of(self, account_id: str, phone_numbers: Iterable[str]) -> Mapping[str, str]:
        """Return number → carrier for those of up to 100 numbers (E.164) that were imported.

        An account that never imported any is asked about once: a million leads would be ten thousand reads of nothing.
        """
        if account_id not in self._has_any:
            self._has_any[account_id] = self._table.get(keys.has_carriers(account_id)) is not None
        wanted = {keys.carrier(account_id, number)[0]: number for number in phone_numbers}
        if not wanted or not self._has_any[account_id]:
            return {}
        found = self._table.get_many([keys.carrier(account_id, number) for number in wanted.values()])
        return {wanted[row["pk"]]: row["carrier"] for row in found if row["carrier"]}
