"""Which accident would leave an account's row as it was found: the batches and rounds whose numbers fit exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from paceline.recount.reading import AccountBook, BatchBook

# More candidates than these say nothing.
MOST_NAMED = 3


def explain(book: AccountBook, found: Mapping[str, int], expected: Mapping[str, int]) -> str:
    """Return what would explain the difference, in words. It fits; it is not proved."""
    if found["bought"] != expected["bought"]:
        return "the trail of operators' changes adds up to other purchases"
    if found["reserved"] == expected["reserved"] and found["consumed"] == expected["consumed"]:
        return "available is what was bought, without the reserved and the consumed"
    moved = (found["reserved"] - expected["reserved"], found["consumed"] - expected["consumed"])
    fitting = [words for words, move in _accidents(book) if move == moved]
    if not fitting:
        return _plainly(*moved)
    more = len(fitting) - MOST_NAMED
    return "as if " + "; or ".join(fitting[:MOST_NAMED]) + (f"; or {more} others like them" if more > 0 else "")


def _plainly(reserved: int, consumed: int) -> str:
    if reserved > 0 and not consumed:
        return f"{reserved} parts are reserved that no lease holds, and no single give-back is as large"
    if not reserved:
        return "no batch accounts for it"
    return "no single lease, give-back or settlement explains it"


def _accidents(book: AccountBook) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each accident in words, with what it would do to (reserved, consumed)."""
    for campaign, one in book.batches():
        name = f"batch {one.batch.batch_id} of {campaign.campaign_id}"
        yield from _of_settlement(name, one)
        for round_no, lease in one.leases.items():
            if unused := lease.get("unused", 0):
                back = f"the give-back of round {round_no} of {name} ({unused} parts)"
                yield f"{back} had been lost", (unused, 0)
                yield f"{back} had come twice", (-unused, 0)
            taken = f"the lease of round {round_no} of {name} ({lease['parts']} parts)"
            yield f"{taken} had been taken twice", (lease["parts"], 0)
            yield f"{taken} had not been taken", (-lease["parts"], 0)


def _of_settlement(name: str, one: BatchBook) -> Iterator[tuple[str, tuple[int, int]]]:
    if "settled_at" in one.summary:
        held, consumed = one.summary["held_parts"], one.summary["consumed"]
        yield f"{name} had been settled twice", (-held, consumed)
        yield f"the settlement of {name} had been lost", (held, -consumed)
        if back := held - consumed:
            yield f"what {name} released ({back} parts) had been lost", (back, 0)
