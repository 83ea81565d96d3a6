"""Makes a failing world as small as it can be made while it still fails: what is left is its story.

Delta debugging by halves (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002): leave out
a part of what is left; where it still fails, go on without it; where it does not, try smaller parts.
"""

from __future__ import annotations

from dataclasses import replace

from sandbox.deployment import Deployment
from sandbox.simulation.worlds.trying import Verdict, attempts

# Tries of one world; each takes a second or less.
MOST_TRIES = 150


def shrink(deployment: Deployment, verdict: Verdict, most: int = MOST_TRIES) -> Verdict:
    """Return the verdict on the smallest world that was found in which one of the same invariants still breaks."""
    wanted, tries = verdict.invariants, 0
    faults = [one.rpartition(" ")[0] for one in verdict.met]
    kept, best = faults + list(verdict.tags), verdict

    def fails(tags: list[str]) -> bool:
        nonlocal tries, best
        tries += 1
        found = next(attempts(deployment, [replace(verdict.trial, kept=frozenset(tags))]))
        if found.invariants & wanted:
            best = found
            return True
        return False

    size = max(1, len(kept) // 2)
    while tries < most:
        smaller = False
        for first in range(0, len(kept), size):
            if tries >= most:
                break
            without = kept[:first] + kept[first + size :]
            if len(without) < len(kept) and fails(without):
                kept, smaller = without, True
                break
        if not smaller and size == 1:
            break
        if not smaller:
            size = max(1, size // 2)
        size = min(size, max(1, len(kept) // 2))
    return best
