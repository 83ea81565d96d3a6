"""Lead files for tests. Every number is one of 555-0100 to 555-0199, which belong to nobody."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

# Area codes by the time zone in which their recipients are: a hundred numbers each.
AREA_CODES = {
    "America/New_York": "201 202 203 207 212 215 216 219 220 223 227 229 231 234 239 240 248 252 260 267",
    "America/Chicago": "205 210 214 217 218 224 225 228 235 251 254 256 262 274 281 308 309 312 314 316",
    "America/Denver": "303 307 385 406 435 505 575 719 720 801 915 970 983",
    "America/Phoenix": "480 520 602 623 928",
    "America/Los_Angeles": "206 209 213 253 279 310 323 341 350 360 408 415 424 425 442 458 503 509 510 530",
}
NUMBERS_AN_AREA = 100


def make_leads(
    count: int, *, zone: str = "America/New_York", carrier: str = "", **columns: Any
) -> list[dict[str, Any]]:
    """Return leads in one time zone, each with a number of its own. columns: further ones, the same for every lead."""
    areas = AREA_CODES[zone].split()
    if count > len(areas) * NUMBERS_AN_AREA:
        raise ValueError(f"there are {len(areas) * NUMBERS_AN_AREA} fictional numbers in {zone}, fewer than {count}")
    return [
        {
            "phone": f"+1{areas[number // NUMBERS_AN_AREA]}55501{number % NUMBERS_AN_AREA:02d}",
            "first_name": f"Lead {number + 1}",
            "carrier": carrier,
            **columns,
        }
        for number in range(count)
    ]


def to_csv(leads: Iterable[dict[str, Any]]) -> bytes:
    """Return a customer's file of these leads."""
    rows = list(leads)
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["phone"]
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
