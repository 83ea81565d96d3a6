"""What can go wrong at a call boundary, and the one object that is asked at each of them.

A boundary is an AWS call or a provider's call that a function makes, or the function's own invocation: before the
handler's first line, and after its last, when the answer can still be lost.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeVar

T = TypeVar("T")


class Fault(StrEnum):
    """What becomes of one call."""

    BEFORE = "before"  # the function is killed, and the call never happens
    AFTER = "after"  # the call takes effect, and the function is killed before it sees the answer
    ORPHANED = "orphaned"  # the function's caller is told that it is gone, and it goes on, some seconds later
    THROTTLED = "throttled"  # refused for its rate; nothing happens
    FAILED = "failed"  # a 5xx; nothing happens
    LOST = "lost"  # the call takes effect, and its caller gets a time-out
    REPEATED = "repeated"  # the call takes effect, its answer is lost, and the client asks again by itself


# A process that ends, or that nobody waits for any more: what happens to every function, without a fault of AWS's.
KILLS = (Fault.BEFORE, Fault.AFTER, Fault.ORPHANED)


@dataclass(frozen=True, slots=True)
class Boundary:
    """One call of a run. position: counted from 1 since `Faults.arm`; function: its folder's name."""

    position: int
    function: str
    call: str

    def __str__(self) -> str:
        return f"{self.position} {self.function} {self.call}"


Choice = Callable[[Boundary], Fault | None]


def nothing(boundary: Boundary) -> None:
    """Let every call be."""


def at_position(position: int, fault: Fault) -> Choice:
    """Return the choice of one fault, at the n-th call of the run."""
    return lambda boundary: fault if boundary.position == position else None


def by_seed(seed: object, share: float, faults: tuple[Fault, ...] = tuple(Fault)) -> Choice:
    """Return the choice of one of `faults` for a share of all calls; the same seed chooses the same."""
    rng = random.Random(f"{seed}:faults")
    return lambda boundary: rng.choice(faults) if rng.random() < share else None


class Faults:
    """Counts the boundaries of a run and does to each call what is chosen for it."""

    def __init__(self) -> None:
        self.passed = 0
        self._choose: Choice = nothing

    def arm(self, choose: Choice) -> None:
        """Choose so from now on, and count anew."""
        self.passed, self._choose = 0, choose

    def meet(
        self,
        function: str,
        call: str,
        act: Callable[[], T],
        *,
        kill: Callable[[], NoReturn],
        orphan: Callable[[], None],
        refuse: Callable[[Fault], T],
        is_idempotent: bool = False,
        asks_again: bool = True,
    ) -> T:
        """Make one call, as its fault lets it. kill: end the function here; orphan: let its caller go; refuse: what the
        caller of the call gets instead.

        is_idempotent: a repeated call gives the first answer again, without an effect. asks_again: whether the client
        does, by itself; for one that does not, a lost answer is lost. Raises: what `act` and `refuse` raise.
        """
        self.passed += 1
        match self._choose(Boundary(self.passed, function, call)):
            case None:
                return act()
            case Fault.BEFORE:
                kill()
            case Fault.ORPHANED:
                orphan()
                return act()
            case Fault.THROTTLED | Fault.FAILED as fault:
                return refuse(fault)
            case Fault.AFTER:
                _done(act)
                kill()
            case Fault.LOST as fault:
                _done(act)
                return refuse(fault)
            case Fault.REPEATED if not asks_again:
                _done(act)
                return refuse(Fault.LOST)
            case Fault.REPEATED:
                first = act()
                return first if is_idempotent else act()


def _done(act: Callable[[], object]) -> None:
    """Let a call take effect whose answer nobody will see, be it a refusal."""
    try:
        act()
    except Exception:
        return
