"""A run that branches at every call: the process is copied there, and the copy goes on with a fault.

So no world is built and no call is made again for what came before the fault: a run costs what comes after it. A copy
is the same to the last byte, so it ends as a run does that meets the same fault at the same position.
"""

from __future__ import annotations

import gc
import json
import os
import signal
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NoReturn

from sandbox.faults import Boundary, Fault

# A copy that takes longer (real seconds) goes round in circles: a run takes about one.
MOST_SECONDS = 300

Done = Callable[[Boundary, Fault, dict[str, Any] | None], None]


class Forks:
    """The choice of faults of a run: none in this process, and every wanted one in a copy of it.

    wanted: tells the boundaries. workers: how many copies run at once. folder: where copies leave their results.
    done: told the result of each copy, or None of one that died; called in this process.
    """

    def __init__(
        self, faults: Collection[Fault], wanted: Callable[[Boundary], bool], workers: int, folder: Path, done: Done
    ) -> None:
        self._faults, self._wanted, self._workers, self._folder, self._done = faults, wanted, workers, folder, done
        self._running: dict[int, tuple[Boundary, Fault]] = {}
        self.passed: list[Boundary] = []
        self.mine: tuple[Boundary, Fault] | None = None  # in a copy: its fault

    def choose(self, boundary: Boundary) -> Fault | None:
        """Return the fault of this call: in a copy its own, here none. It returns several times."""
        if self.mine is not None:
            return None
        self.passed.append(boundary)
        for fault in self._faults if self._wanted(boundary) else ():
            while len(self._running) >= self._workers:
                self._collect()
            if (pid := os.fork()) == 0:
                gc.disable()  # a collection writes to all that is there, and so copies it; a run makes little garbage
                signal.alarm(MOST_SECONDS)
                self._running, self.mine = {}, (boundary, fault)
                return fault
            self._running[pid] = (boundary, fault)
        return None

    def leave(self, result: dict[str, Any]) -> NoReturn:
        """End a copy with its result, and nothing else: what is open belongs to the process that it was copied from."""
        self._place(*self._own()).write_text(json.dumps(result))
        os._exit(0)

    def finish(self) -> None:
        """Wait for the copies that still run."""
        while self._running:
            self._collect()

    def _own(self) -> tuple[Boundary, Fault]:
        assert self.mine is not None
        return self.mine

    def _place(self, boundary: Boundary, fault: Fault) -> Path:
        return self._folder / f"{boundary.position}-{fault.value}.json"

    def _collect(self) -> None:
        pid, _ = os.waitpid(-1, 0)
        if (ended := self._running.pop(pid, None)) is not None:
            place = self._place(*ended)
            self._done(*ended, json.loads(place.read_text()) if place.exists() else None)
            place.unlink(missing_ok=True)
