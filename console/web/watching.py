"""The workflow of an execution with the live count in each state, for as long as somebody looks."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from threading import Lock

from console.reach import ONE_TRY
from console.web.site import Site
from console.workflow.allowance import AWS, UNLIMITED
from console.workflow.counting import Counter
from console.workflow.counts import Counts
from console.workflow.definition import Graph

# A page waits no longer for its counts; then it has those of the look before.
PATIENCE_SECONDS = 0.25
OVER_SECONDS = 5.0
_POOL = ThreadPoolExecutor(4, thread_name_prefix="counting")


class Watched:
    """One execution that is counted, by one thread at a time, beside the pages that show it."""

    def __init__(self, site: Site, arn: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._site = site
        self._arn = arn
        self._lock = Lock()
        self._counter: Counter | None = None
        self._counting: Future[Counts] | None = None
        self._last: Counts | None = None
        self._now = datetime.now(UTC)
        self._monotonic = monotonic
        self._looked_at = 0.0

    def look(self, now: datetime) -> tuple[Graph, Counts | None] | None:
        """Return the graph and the last counts, as far as there are any yet. now: by the system's own clock, which in
        the sandbox is another. Raises: CannotReach.
        """
        with self._lock:
            if not self._is_due():
                return self._known()
            self._now = now
            counting = self._counting = self._counting or _POOL.submit(self._count)
        wait([counting], PATIENCE_SECONDS)
        with self._lock:
            if not counting.done():
                return self._known()
            if self._counting is counting:
                self._counting, self._looked_at = None, self._monotonic()
            self._last = counting.result()
            return self._known()

    def _is_due(self) -> bool:
        """Tell whether anything may have changed: what is over goes on only where somebody redrives it."""
        is_over = self._last is not None and self._last.status != "RUNNING" and not self._last.is_behind
        return not is_over or self._monotonic() - self._looked_at >= OVER_SECONDS

    def _known(self) -> tuple[Graph, Counts | None] | None:
        return (self._counter.graph, self._last) if self._counter else None

    def _count(self) -> Counts:
        with self._site.aws() as system:
            if self._counter is None:
                rates = UNLIMITED if self._site.where.endpoint_url else AWS
                self._counter = Counter(
                    system.client("stepfunctions", config=ONE_TRY), self._arn, rates=rates, now=lambda: self._now
                )
            return self._counter.look()


def watched(site: Site, arn: str) -> Watched:
    """Return what counts an execution: the same for all who look at it."""
    found: Watched = site.kept.get(("workflow", arn), lambda: Watched(site, arn))
    return found
