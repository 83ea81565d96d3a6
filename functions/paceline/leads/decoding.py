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
_SAVE_AS = "Save it as CSV (UTF-8) and upload it again."
# What a damaged file raises; a broken connection (OSError) is not the customer's fault and goes on to the workflow.
_UNREADABLE = (EOFError, gzip.BadGzipFile, zlib.error, UnicodeError)


def read_lines(stream: BinaryIO, filename: str) -> Iterator[str]:
    """Yield the lines of a file with their line ends: UTF-8, UTF-16 with a mark, Windows-1252; plain or gzip.

    A byte that is not UTF-8 is read as Windows-1252, where it stands: a stream cannot be read to its end first.
    Raises: LeadFileInvalid when the file is not text or is damaged.
    """
    text = _as_text(stream, filename)
    try:
        while line := text.readline(_LINE_CHARACTERS):
            yield line
    except _UNREADABLE as error:
        raise LeadFileInvalid(f"{filename} is damaged: it cannot be read to its end. Upload it again.") from error


def _as_text(stream: BinaryIO, filename: str) -> io.TextIOWrapper:
    plain, head = _with_head(stream, filename)
    if head[:2] == b"\x1f\x8b":
        plain, head = _with_head(gzip.GzipFile(fileobj=plain), filename)
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return io.TextIOWrapper(plain, encoding="utf-16", newline="")
    if head[:4] == b"PK\x03\x04":
        raise LeadFileInvalid(f"{filename} is an Excel workbook or a zip archive, not a CSV file. {_SAVE_AS}")
    if b"\x00" in head or head[:5] == b"%PDF-":
        raise LeadFileInvalid(f"{filename} is not a text file. {_SAVE_AS}")
    return io.TextIOWrapper(plain, encoding="utf-8-sig", errors="paceline.windows-1252", newline="")


def _with_head(stream: BinaryIO | gzip.GzipFile, filename: str) -> tuple[io.BufferedReader, bytes]:
    try:
        head = stream.read(_HEAD_BYTES)
    except _UNREADABLE as error:
        raise LeadFileInvalid(f"{filename} is damaged: it cannot be unpacked. Upload it again.") from error
    return io.BufferedReader(_Rejoined(head, stream), 1 << 16), head


class _Rejoined(io.RawIOBase):
    """A stream put together again with the head that was read from it: a body from S3 cannot seek."""

    def __init__(self, head: bytes, rest: BinaryIO | gzip.GzipFile) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._head or self._rest.read(len(buffer))
        chunk, self._head = chunk[: len(buffer)], chunk[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    # Five bytes have no meaning in Windows-1252 either; they show as U+FFFD, never as a wrong letter.
    return error.object[error.start : error.end].decode("windows-1252", "replace"), error.end


codecs.register_error("paceline.windows-1252", _as_windows_1252)
