"""Work on many things at once, never more than a limit, started only when there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

from sandbox.scheduler import Future, Scheduler, Task

Job = TypeVar("Job")


class Pool(Generic[Job]):
    """Runs `work(job)` in a task of its own, in order, at most `limit()` at once.

    `limit` is asked anew before each start, so that it may change while the pool runs (call `wake` then).
    """

    def __init__(
        self,
        scheduler: Scheduler,
        work: Callable[[Job], None],
        limit: Callable[[], int],
        spacing: Callable[[], float] | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._work = work
        self._limit = limit
        self._spacing = spacing
        self._changed: Future | None = None
        self._failure: BaseException | None = None
        self.running: dict[Task, None] = {}

    def run(self, jobs: Iterable[Job]) -> None:
        """Return when all jobs are done. The first error ends the others where they wait, and is raised."""
        waiting = iter(jobs)
        try:
            while self._start_more(waiting) or self.running:
                self._changed = self._scheduler.future()
                self._changed.wait()
                if self._failure is not None:
                    raise self._failure
        finally:
            for task in list(self.running):
                task.kill()

    def wake(self) -> None:
        """Look again whether more can start."""
        if self._changed is not None:
            self._changed.set()

    def _start_more(self, waiting: Iterable[Job]) -> bool:
        """Start what there is room for; False when there is nothing left to start."""
        while len(self.running) < self._limit():
            job = next(waiting, _NOTHING)  # type: ignore[call-overload]
            if job is _NOTHING:
                return False
            task = self._scheduler.spawn(self._work, job)
            self.running[task] = None
            task.when_done(partial(self._ended, task))
            if self._spacing is not None and (seconds := self._spacing()) > 0:
                self._scheduler.sleep(seconds)
                if self._failure is not None:
                    raise self._failure
        return True

    def _ended(self, task: Task) -> None:
        self.running.pop(task, None)
        self._failure = self._failure or task.error
        self.wake()


_NOTHING = object()
