"""The numbers of a chunk's leads, in an object beside it: who was planned, where a lead itself cannot be read any more.

It holds no person: a lead's number in the file, its parts, its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from paceline.errors import ObjectNotFound
from paceline.models import Lead
from paceline.ports import ObjectStore


def numbers_key(leads_key: str) -> str:
    """Return the key of the numbers beside a chunk's leads."""
    return f"{leads_key.removesuffix('.jsonl')}.numbers.json"


def to_numbers(batches: Mapping[str, Iterable[tuple[int, int, int]]]) -> bytes:
    """Return the object of a chunk: (lead_no, parts, row_number) of each lead, by batch id."""
    return json.dumps({batch_id: list(leads) for batch_id, leads in batches.items()}, separators=(",", ":")).encode()


def numbered_leads(store: ObjectStore, leads_key: str, batch_id: str) -> list[Lead]:
    """Return a batch's leads without phone number and text. Raises: ObjectNotFound, where these are unreadable too."""
    key = numbers_key(leads_key)
    try:
        found = json.loads(store.get(key))[batch_id]
        return [Lead(lead_no, "", "", parts, row_number) for lead_no, parts, row_number in found]
    except (ValueError, KeyError, TypeError) as error:
        raise ObjectNotFound(f"The object {key!r} does not hold the numbers of batch {batch_id}.", key=key) from error


def batch_with(store: ObjectStore, leads_key: str, lead_no: int) -> str | None:
    """Return the id of the chunk's batch that has a lead; None: none of them has. Raises: ObjectNotFound."""
    batches: dict[str, list[tuple[int, int, int]]] = json.loads(store.get(numbers_key(leads_key)))
    return next((name for name, leads in batches.items() if any(lead[0] == lead_no for lead in leads)), None)
