"""Faults by chance, each tied to the call that it meets: what is left out of a world does not move the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b

from sandbox.faults import Boundary, Fault
from sandbox.simulation.worlds.plans import Storm

_SCALE = float(1 << 32)


def chooser(
    seed: int, storm: Storm, seconds: Callable[[], float], kept: Callable[[str], bool], met: list[str]
) -> Callable[[Boundary], Fault | None]:
    """Return the choice of faults of a run. seconds: since its start. met: is told the tag of each fault.

    A tag is `function/call/n`: the n-th such call of the run.
    """
    counts: Counter[str] = Counter()
    kinds = [Fault(kind) for kind in storm.kinds]

    def choose(boundary: Boundary) -> Fault | None:
        name = f"{boundary.function}/{boundary.call}"
        counts[name] += 1
        share = storm.share
        if storm.burst_service and boundary.call.startswith(storm.burst_service) and storm.bursts_at(seconds()):
            share = max(share, storm.burst_share)
        if boundary.function == storm.focus:
            share = max(share, storm.focus_share)
        if not share or not kinds:
            return None
        tag = f"{name}/{counts[name]}"
        drawn = int.from_bytes(blake2b(f"{seed}:{tag}".encode(), digest_size=8).digest(), "big")
        if (drawn >> 32) / _SCALE >= share or not kept(tag):
            return None
        is_of_focus = boundary.function == storm.focus and drawn & 1024
        fault = Fault(storm.focus_kind) if is_of_focus else kinds[drawn % len(kinds)]
        met.append(f"{tag} {fault.value}")
        return fault

    return choose
