"""Cells of a CSV file that no spreadsheet runs as a formula, and from which every value can be read back.

The rule is that of OWASP (ASVS 1.2.10, CSV injection) and of CWE-1236: an apostrophe before what could start a formula.
Excel, LibreOffice and Google Sheets then take the cell as text. For phone numbers it is also the only plain way to
stay intact: a bare +12025550101 becomes a number and loses its plus, and ="+12025550101" is itself a formula, which
LibreOffice shows literally and every other reader takes for the value. A program removes one leading apostrophe.

A cell is also guarded after each character that another locale or an import dialog could take for a separator:
`x;=1+1` is two cells where the list separator is a semicolon, as it is in much of Europe.
"""

from __future__ import annotations

import re

# A formula may follow blanks (some programs trim them); the full-width signs are taken for the plain ones.
# The apostrophe is doubled so that `read_cell` can tell ours from theirs.
_RISKY = r"(?:[\t\r\n]|\s*[=+\-@'\uff1d\uff0b\uff0d\uff20])"
_EDGE = r"(?:^|(?<=[;,|\t\r\n\"]))"
_UNSAFE = re.compile(_EDGE + "(?=" + _RISKY + ")")
_GUARD = re.compile(_EDGE + "'")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # never data; NUL is skipped by some readers


def safe_cell(value: object) -> str:
    """Return the value as text that starts no formula; None is an empty cell. Control characters are dropped."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)  # ours, and no formula: -2 stays a number that can be added up
    return _UNSAFE.sub("'", _CONTROL.sub("", str(value)))


def read_cell(cell: str) -> str:
    """Return the value that `safe_cell` wrote."""
    return _GUARD.sub("", cell)
