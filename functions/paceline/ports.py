"""What the rules need from the world outside. `adapters/` holds the real ones, `tests/fakes/` those for tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import BinaryIO, Protocol


class Clock(Protocol):
    """The only source of the time."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""


class ObjectStore(Protocol):
    """The bucket of lead files, batch files and reports. Keys are relative to the one bucket."""

    bucket: str

    def open(self, key: str) -> BinaryIO:
        """Return the object as a binary stream. Raises: ObjectNotFound."""

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        """Return the object, or its bytes first_byte..last_byte (inclusive). Raises: ObjectNotFound."""

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        """Write the object, replacing what was there."""


class OptOuts(Protocol):
    """Who said STOP to an account."""

    def opted_out(self, account_id: str, phone_numbers: Iterable[str]) -> set[str]:
        """Return those of the numbers (E.164) that opted out."""
