"""Fakes of the ports that planning uses: a bucket and a list of opt-outs, in memory."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO

from paceline.errors import ObjectNotFound


class MemoryStore:
    """An ObjectStore in memory. objects: key → body; puts: the keys in the order written."""

    def __init__(self, objects: dict[str, bytes] | None = None, bucket: str = "leads") -> None:
        self.bucket = bucket
        self.objects = dict(objects or {})
        self.puts: list[str] = []

    def open(self, key: str) -> BinaryIO:
        return io.BytesIO(self.get(key))

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        if key not in self.objects:
            raise ObjectNotFound(f"There is no object {key}.", key=key)
        body = self.objects[key]
        return body[first_byte or 0 : len(body) if last_byte is None else last_byte + 1]

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        self.objects[key] = body
        self.puts.append(key)


class MemoryOptOuts:
    """OptOuts in memory: pairs of account and number. asked: the size of each question."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs = set(pairs)
        self.asked: list[int] = []

    def opted_out(self, account_id: str, phone_numbers: Iterable[str]) -> set[str]:
        numbers = list(phone_numbers)
        self.asked.append(len(numbers))
        return {number for number in numbers if (account_id, number) in self.pairs}
