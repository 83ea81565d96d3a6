"""A bucket in memory that keeps what was written over: an object store to the rules, all versions to who erases."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from paceline.errors import ObjectNotFound
from paceline.ports import StoredVersion


class VersionedMemory:
    """An ObjectStore and a VersionedStore. before: called before every write; it may raise, and so kill the writer."""

    bucket = "leads"

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.before = before
        self._kept: dict[str, list[tuple[str, bytes]]] = {}
        self._last_id = 0

    @property
    def bodies(self) -> dict[str, list[bytes]]:
        """Every version of every object."""
        return {key: [body for _, body in kept] for key, kept in self._kept.items() if kept}

    def open(self, key: str) -> BinaryIO:
        return io.BytesIO(self.get(key))

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        if not self._kept.get(key):
            raise ObjectNotFound(f"There is no object {key}.", key=key)
        body = self._kept[key][-1][1]
        return body[first_byte or 0 : len(body) if last_byte is None else last_byte + 1]

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        self._last_id += 1
        self._kept.setdefault(key, []).append((str(self._last_id), body))

    def versions(self, prefix: str) -> Iterator[StoredVersion]:
        for key in sorted(key for key in self._kept if key.startswith(prefix)):
            last = len(self._kept[key]) - 1
            yield from [StoredVersion(key, name, n == last) for n, (name, _) in enumerate(self._kept[key])]

    def read_version(self, version: StoredVersion) -> bytes:
        for name, body in self._kept[version.key]:
            if name == version.version_id:
                return body
        raise ObjectNotFound(f"There is no object {version.key}.", key=version.key)

    def write_over(self, version: StoredVersion, body: bytes) -> str:
        self.before()
        self.put(version.key, body)
        return str(self._last_id)

    def erase(self, versions: Iterable[StoredVersion]) -> None:
        for version in list(versions):
            self.before()
            kept = self._kept[version.key]
            self._kept[version.key] = [one for one in kept if one[0] != version.version_id]
