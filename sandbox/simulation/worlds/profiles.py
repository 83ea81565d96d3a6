"""Which kinds of trouble a world has. `mixed` draws one of the others for each seed."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.faults import Fault


@dataclass(frozen=True)
class Trouble:
    """about: for people. shares: of calls that meet a fault, one is drawn. weight: how often `mixed` draws it."""

    about: str
    weight: int
    kinds: tuple[Fault, ...] = ()
    shares: tuple[float, ...] = (0.0,)
    bursts: float = 0.0
    spells: bool = False
    acts: bool = False
    oddities: float = 0.0


KILLED = (Fault.BEFORE, Fault.AFTER, Fault.ORPHANED)
REFUSED = (Fault.THROTTLED, Fault.FAILED, Fault.LOST, Fault.REPEATED)

PROFILES = {
    "calm": Trouble("nothing goes wrong", 1),
    "people": Trouble("people and operators do as they like; no call fails", 3, acts=True, oddities=0.3),
    "carrier": Trouble("the provider throttles, fails, is silent; odd receipts", 2, spells=True, oddities=0.6),
    "killed": Trouble("functions are killed at calls", 3, KILLED, (0.003, 0.01, 0.03), oddities=0.2),
    "aws": Trouble("AWS refuses calls, or its answers are lost", 3, REFUSED, (0.003, 0.01, 0.03), 0.5, oddities=0.2),
    "storm": Trouble(
        "all of it at once", 6, KILLED + REFUSED, (0.002, 0.005, 0.01, 0.03), 0.3, spells=True, acts=True, oddities=0.4
    ),
}
MIXED = "mixed"
