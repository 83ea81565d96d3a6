"""What can be odd about a person's telephone, as the carrier sees it: refusals, silence, receipts of every kind."""

from __future__ import annotations

import random
from collections.abc import Callable

from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Script

SENT, ARRIVED, STOPPED = ("sent", ""), ("delivered", ""), ("undelivered", "30007")
GONE = ("undelivered", "30003")


def _words(*words: tuple[float, tuple[str, str]]) -> Script:
    return Script(words=tuple((after, status, code) for after, (status, code) in words))


ODDITIES: dict[str, Callable[[random.Random], Script]] = {
    "the carrier refuses the number": lambda rng: Script(refused=rng.choice(("21614", "21610", "30006"))),
    "the carrier filters it": lambda rng: Script(FILTERED),
    "one 429, then it is taken": lambda rng: Script(throttles=rng.randint(1, 3)),
    "it is taken, and the answer never comes": lambda rng: Script(DELIVERED, silent=True),
    "it is taken, neither answer nor receipt comes": lambda rng: Script(
        rng.choice((DELIVERED, FILTERED)), silent=True, receipts=0
    ),
    "its receipts are lost": lambda rng: Script(rng.choice((DELIVERED, FILTERED)), receipts=0),
    "it never has a final receipt": lambda rng: Script(NO_FINAL_RECEIPT),
    "its receipts come twice": lambda rng: Script(receipts=rng.randint(2, 3)),
    "its receipts come at once": lambda rng: Script(delay=0.0),
    "its receipt comes hours later": lambda rng: Script(delay=rng.uniform(1800, 9 * 3600)),
    "its receipts come in the wrong order": lambda rng: _words((2.0, ARRIVED), (6.0, SENT)),
    "its receipts contradict": lambda rng: _words((3.0, GONE), (rng.choice((4.0, 9000.0)), ARRIVED)),
    "its receipts contradict, late": lambda rng: _words((3.0, ARRIVED), (rng.choice((4.0, 30000.0)), STOPPED)),
    "its receipts name two causes": lambda rng: _words((3.0, STOPPED), (rng.choice((3.0, 40000.0)), GONE)),
}


def draw_oddity(rng: random.Random) -> tuple[str, Script]:
    """Return what is odd, in words, and as the carrier does it."""
    words = rng.choice(list(ODDITIES))
    return words, ODDITIES[words](rng)
