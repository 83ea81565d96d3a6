"""From the bytes of an uploaded file to lines of text: compression and encodings, without holding the file."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from paceline.errors import LeadFileInvalid

_HEAD_BYTES = 8192
# Longer than any honest line of leads; a file without line breaks must not fill the memory.
_LINE_CHARACTERS = 1 << 20
# A million rows of a thousand characters. 200 MB of gzip can unpack to 200 GB, which no function reads in its time.
MOST_UNPACKED_BYTES = 1 << 30
# Five times the leads of a file; a gigabyte of line breaks would be a billion lines, and an hour of reading.
MOST_LINES = 5_000_000
# A heading is plain letters nearly always, and in UTF-16 every second byte of plain letters is zero.
_HEADING_BYTES = 64
# A row may have one from a broken export, and is refused for it; a file of another kind has many more.
_STRAY_NULS = 2
_SAVE_AS = "Save it as CSV (UTF-8) and upload it again."
# What a damaged file raises; a broken connection (OSError) is not the customer's fault and goes on to the workflow.
_UNREADABLE = (EOFError, gzip.BadGzipFile, zlib.error, UnicodeError)


def unpacked(stream: BinaryIO, filename: str) -> tuple[io.BufferedReader, bytes]:
    """Return the file's bytes, gunzipped where they are gzip, and a copy of the first of them.

    Raises: LeadFileInvalid, when it is damaged; while it is read too, and when it unpacks to more than 1 GiB.
    """
    plain, head = _with_head(stream, filename, None)
    if head[:2] == b"\x1f\x8b":
        plain, head = _with_head(gzip.GzipFile(fileobj=plain), filename, MOST_UNPACKED_BYTES)
    return plain, head


def read_lines(plain: io.BufferedReader, head: bytes, filename: str) -> Iterator[str]:
    """Yield the lines of a file with their line ends: UTF-8, UTF-16 with or without a mark, Windows-1252.

    A byte that is not UTF-8 is read as Windows-1252, where it stands: a stream cannot be read to its end first.
    Raises: LeadFileInvalid when the file is not text or is damaged.
    """
    text = _as_text(plain, head, filename)
    try:
        for _ in range(MOST_LINES):
            if not (line := text.readline(_LINE_CHARACTERS)):
                return
            yield line
    except _UNREADABLE as error:
        raise damaged(filename) from error
    raise LeadFileInvalid(f"{filename} has more than {MOST_LINES:,} lines. Divide it into several campaigns.")


def damaged(filename: str) -> LeadFileInvalid:
    """Return the error for a file that breaks off or is garbled."""
    return LeadFileInvalid(f"{filename} is damaged: it cannot be read to its end. Upload it again.")


def too_large(filename: str) -> LeadFileInvalid:
    """Return the error for a file that unpacks to more than anybody's leads."""
    return LeadFileInvalid(f"{filename} unpacks to more than 1 GiB. Divide it into several campaigns.")


def _as_text(plain: io.BufferedReader, head: bytes, filename: str) -> io.TextIOWrapper:
    if utf_16 := _utf_16(head):
        return io.TextIOWrapper(plain, encoding=utf_16, newline="")
    if head[:4] == b"\xd0\xcf\x11\xe0":  # the container of .xls, and of an .xlsx under a password
        raise LeadFileInvalid(
            f"{filename} is an Excel workbook of the old kind, or has a password. Save it as .xlsx without a password."
        )
    is_full_of_nuls = head.count(0) > max(_STRAY_NULS, len(head) // 100) or b"\0" in head.partition(b"\n")[0]
    if is_full_of_nuls or head.startswith((b"%PDF-", b"\x89PNG")):
        raise LeadFileInvalid(f"{filename} is not a text file. {_SAVE_AS}")
    return io.TextIOWrapper(plain, encoding="utf-8-sig", errors="paceline.windows-1252", newline="")


def _utf_16(head: bytes) -> str | None:
    if head[:4] == codecs.BOM_UTF32_LE:
        return None  # it begins like UTF-16, and is as good as never used
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    firsts, seconds = head[:_HEADING_BYTES:2].count(0), head[1:_HEADING_BYTES:2].count(0)
    least = len(head[:_HEADING_BYTES]) // 4
    if firsts == 0 and seconds > least:
        return "utf-16-le"
    return "utf-16-be" if seconds == 0 and firsts > least else None


def _with_head(
    stream: BinaryIO | gzip.GzipFile, filename: str, most_bytes: int | None
) -> tuple[io.BufferedReader, bytes]:
    try:
        head = stream.read(_HEAD_BYTES)
    except _UNREADABLE as error:
        raise LeadFileInvalid(f"{filename} is damaged: it cannot be unpacked. Upload it again.") from error
    return io.BufferedReader(_Rejoined(head, stream, filename, most_bytes), 1 << 16), head


class _Rejoined(io.RawIOBase):
    """A stream put together again with the head that was read from it (a body from S3 cannot seek), and its limit."""

    def __init__(self, head: bytes, rest: BinaryIO | gzip.GzipFile, filename: str, most_bytes: int | None) -> None:
        self._head, self._rest = head, rest
        self._filename, self._left = filename, most_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._head or self._rest.read(len(buffer))
        chunk, self._head = chunk[: len(buffer)], chunk[len(buffer) :]
        buffer[: len(chunk)] = chunk
        if self._left is not None:
            self._left -= len(chunk)
            if self._left < 0:
                raise too_large(self._filename)
        return len(chunk)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    # Five bytes have no meaning in Windows-1252 either; they show as U+FFFD, never as a wrong letter.
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


codecs.register_error("paceline.windows-1252", _as_windows_1252)
