"""Makes lead files of fictional people: `events/make_leads.py --seed N --rows N --out FILE [--carriers]`.

Every number is 555-0100 to 555-0199 under a real area code of the contiguous United States: those hundred are kept for
fiction in every area code, so nobody is texted by mistake. An area code is used when its numbers are valid for
`phonenumbers` and all its zones are Eastern, Central, Mountain, Arizona or Pacific; there are over 350 of them.

The committed files are made by

    events/make_leads.py --seed 1000 --rows 1000 --carriers --out events/leads-1000.csv
    events/make_leads.py --seed 25000 --rows 25000 --out events/leads-25000.csv.gz

With --carriers: mixed spellings, carriers and states; of 1,000 rows 20 rejected, each for another reason
in turn, and 10 duplicates in another spelling. Without: clean rows, all accepted, no duplicates, and, as in the story,
no carrier.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "functions"))

from paceline.leads.phone import PhoneNumber, normalise
from paceline.leads.zones import zones_of

CONTIGUOUS = {f"America/{city}" for city in ("New_York", "Chicago", "Denver", "Phoenix", "Los_Angeles")}
# fmt: off
FIRST_NAMES = (
    "Ana", "Ben", "Carla", "Dee", "Elias", "Fay", "Gus", "Hana", "Ivan", "June", "Karl", "Lena", "Mateo", "Nora",
    "Omar", "Pia", "Quinn", "Rosa", "Sam", "Tess", "Uma", "Vic", "Wendy", "Xena", "Yusuf", "Zelda", "José", "Renée",
    "Maximiliano", "Mary-Jane",
)
LAST_NAMES = (
    "Abbott", "Baker", "Castillo", "Dunn", "Ellis", "Ford", "Garcia", "Hughes", "Ito", "Jensen", "Kim", "Lopez",
    "Moore", "Null", "Ortiz", "Park", "Reed",
)
STATES = (
    "AL", "AZ", "CA", "CO", "FL", "GA", "IL", "IN", "MA", "MI", "MN", "MO", "NC", "NJ", "NV", "NY", "OH", "OR", "PA",
    "TN", "TX", "UT", "VA", "WA", "WI",
)
# fmt: on
CARRIERS = ("Verizon", "Verizon", "verizon ", "VERIZON", "AT&T", "T-Mobile", "US Cellular", "", "", "")
SPELLINGS = (
    "{0}{1}{2}",
    "({0}) {1}-{2}",
    "{0}-{1}-{2}",
    "{0}.{1}.{2}",
    "1-{0}-{1}-{2}",
    "1{0}{1}{2}",
    "+1{0}{1}{2}",
    "+1 {0} {1} {2}",
    "+1 ({0}) {1}-{2}",
)
UNUSABLE = (
    "",
    "n/a",
    "1.20256E+10",
    "2025550100.0",
    "555-0101",
    "202-555-01001",
    "1-800-555-0199",
    "900-555-0100",
    "(416) 555-0101",
    "202-555-0102 x12",
    "202-555-0103 / 202-555-0104",
    "202-555-HOME",
    "+44 20 7946 0018",
    "111-222-3333",
)
EVERY_REJECTED, EVERY_DUPLICATE = 50, 100


def numbers(random_: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield every fictional number once, in random order, as (area code, exchange, line)."""
    found = [(area, "555", f"{line:04}") for area in area_codes() for line in range(100, 200)]
    random_.shuffle(found)
    yield from found


def area_codes() -> list[str]:
    """Return the area codes in use whose places are all in the contiguous United States."""
    return [str(area) for area in range(200, 1000) if _is_contiguous(normalise(f"{area}5550100"))]


def _is_contiguous(number: object) -> bool:
    return isinstance(number, PhoneNumber) and CONTIGUOUS.issuperset(zones_of(number.e164))


def rows(seed: int, count: int, *, carriers: bool) -> Iterator[list[str]]:
    """Yield the heading row and `count` rows."""
    random_ = random.Random(seed)
    source = numbers(random_)
    yield ["phone", "first_name", "last_name", *(["carrier", "state"] if carriers else [])]
    seen: list[tuple[str, str, str]] = []
    for row in range(1, count + 1):
        yield [
            _phone(row, seen, source, random_) if carriers else "+1" + "".join(next(source)),
            random_.choice(FIRST_NAMES),
            random_.choice(LAST_NAMES),
            *([random_.choice(CARRIERS), random_.choice(STATES)] if carriers else []),
        ]


def _phone(
    row: int, seen: list[tuple[str, str, str]], source: Iterator[tuple[str, str, str]], random_: random.Random
) -> str:
    if row % EVERY_REJECTED == 0:
        return UNUSABLE[row // EVERY_REJECTED % len(UNUSABLE)]
    if row % EVERY_DUPLICATE == EVERY_DUPLICATE // 4:
        return SPELLINGS[row % len(SPELLINGS)].format(*random_.choice(seen))
    seen.append(next(source))
    return random_.choice(SPELLINGS).format(*seen[-1])


def lead_file(seed: int, count: int, name: str, *, carriers: bool) -> bytes:
    """Return the bytes of the file; the same for the same arguments. A name ending in .gz is compressed."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows(seed, count, carriers=carriers))
    body = text.getvalue().encode()
    return gzip.compress(body, mtime=0) if name.endswith(".gz") else body


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seed", type=int, required=True)
    arguments.add_argument("--rows", type=int, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--carriers", action="store_true")
    given = arguments.parse_args()
    given.out.write_bytes(lead_file(given.seed, given.rows, given.out.name, carriers=given.carriers))


if __name__ == "__main__":
    main()
