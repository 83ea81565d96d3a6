"""How many are in each state now: of one execution and of all the children of its Distributed Maps.

States of the execution itself: all visits. A Distributed Map: its children, by AWS's own counts of its latest Map Run.
States inside children: what is in them now, from the histories of the children that run; what was done there is not
counted, because that would take the history of every child that ever ran.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from console.workflow.allowance import AWS, Allowance, NotNow, Rates
from console.workflow.counts import Counts, StateCount
from console.workflow.definition import Graph, graph_of
from console.workflow.following import FollowedExecution, FollowedMapRun

MOST_CHILDREN = 200
"""Children whose histories are read in one look, those not read for longest first."""
CALLS_AT_ONCE = 8
_UNSUCCESSFUL = ("failed", "timedOut", "aborted")
Followed = FollowedExecution | FollowedMapRun
Each = Callable[[Callable[[Followed], bool], Iterable[Followed]], Iterable[bool]]


@contextmanager
def _threads(at_once: int) -> Iterator[Each]:
    """Give what calls a function for each, so many at once."""
    if at_once == 1:
        yield map
        return
    with ThreadPoolExecutor(at_once, "counting") as pool:
        yield pool.map


class Counter:
    """Counts one execution for as long as somebody looks; used by one thread at a time.

    graph: of the definition that this execution runs, which may be older than the machine's. rates: how often AWS may
    be asked (UNLIMITED for the sandbox). Give it a client that does not retry by itself. Raises, from all it does:
    ClientError, where the execution is not there or may not be read.
    """

    def __init__(
        self,
        client: Any,
        execution_arn: str,
        *,
        rates: Rates = AWS,
        most_children: int = MOST_CHILDREN,
        at_once: int = CALLS_AT_ONCE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        machine = client.describe_state_machine_for_execution(executionArn=execution_arn)
        self.graph: Graph = graph_of(json.loads(machine["definition"]))
        self._root = FollowedExecution(execution_arn, "", self.graph)
        self._allowance = Allowance(client, rates, monotonic)
        self._most_children = most_children
        self._at_once = at_once
        self._now = now

    def look(self) -> Counts:
        """Read what is new and return the counts. Where AWS refuses for now: the last counts, and `is_behind`."""
        before = self._allowance.calls
        with _threads(self._at_once) as self._each:
            is_whole = self._read_level([self._root]) & self._read_children()
        return Counts(
            status=self._root.lines.status,
            states=self._states(),
            children_running=sum(run.running for run in self._leaves()),
            children_counted=sum(child.read_at is not None for child in self._children()),
            as_of=self._as_of(),
            is_behind=not is_whole,
            calls=self._allowance.calls - before,
        )

    # -- reading: each says whether all was read ----------------------------------------------------------------------

    def _read_all(self, followed: Iterable[Followed]) -> bool:
        return all(list(self._each(self._read, followed)))

    def _read(self, followed: Followed) -> bool:
        try:
            followed.read_on(self._allowance, self._now())
        except NotNow:
            return False
        return True

    def _read_level(self, executions: list[FollowedExecution]) -> bool:
        """Read executions and their Map Runs; then, of those whose children have Map Runs too, the children likewise.

        An execution in a Distributed Map goes on only when the Map Run is over, so that is asked first.
        """
        awaited = [run for execution in executions if (run := execution.awaited) is not None]
        is_whole = self._read_all(awaited)
        is_whole &= self._read_all([execution for execution in executions if execution.is_due(self._now())])
        runs = [run for execution in executions for run in execution.runs.values()]
        is_whole &= self._read_all([run for run in runs if run not in awaited])
        # One that is over has nothing new, but what it said last may not have been followed to its end.
        children = [child for run in runs if run.has_parents for child in run.children.values()]
        return is_whole & (not children or self._read_level(children))

    def _read_children(self) -> bool:
        children = sorted(self._children(), key=lambda child: (child.read_at is not None, child.read_at))
        return self._read_all(children[: self._most_children]) & (len(children) <= self._most_children)

    # -- what is known ------------------------------------------------------------------------------------------------

    def _executions(self, execution: FollowedExecution | None = None) -> Iterator[FollowedExecution]:
        """Yield the execution, and the children that may have Map Runs of their own."""
        execution = execution or self._root
        yield execution
        for run in execution.runs.values():
            for child in run.children.values() if run.has_parents else ():
                yield from self._executions(child)

    def _runs(self) -> Iterator[FollowedMapRun]:
        for execution in self._executions():
            yield from execution.runs.values()

    def _leaves(self) -> Iterator[FollowedMapRun]:
        return (run for run in self._runs() if not run.has_parents)

    def _children(self) -> Iterator[FollowedExecution]:
        """Yield the children that run, as listed last."""
        for run in self._leaves():
            yield from run.children.values()

    def _as_of(self) -> datetime | None:
        """What is over does not age."""
        executions = (
            one for one in self._executions() if one.awaited is None and (one is self._root or not one.is_over)
        )
        runs = (run for run in self._runs() if not run.is_settled)
        followed: Iterator[Followed] = chain(executions, runs, self._children())
        read = [one.read_at for one in followed]
        return min((moment for moment in read if moment is not None), default=None)

    def _states(self) -> dict[str, StateCount]:
        states = {
            node.path: StateCount(succeeded=None, failed=None) if self.graph.is_in_leaf(node.path) else StateCount()
            for node in self.graph.nodes
        }
        for execution in self._executions():
            _add_all(states, execution)
        for child in self._children():
            _add_running(states, child)
        for path in {run.path for run in self._runs() if run.described}:
            states[path] = StateCount(pending=0, total=0)
        for run in self._runs():
            if run.described:
                _add_run(states[run.path], run.described["executionCounts"])
        return states


def _add_running(states: dict[str, StateCount], execution: FollowedExecution) -> None:
    for path, tally in execution.lines.tallies.items():
        states[path].running += tally.running
        states[path].retrying += tally.retrying


def _add_all(states: dict[str, StateCount], execution: FollowedExecution) -> None:
    _add_running(states, execution)
    for path, tally in execution.lines.tallies.items():
        count = states[path]
        count.succeeded = (count.succeeded or 0) + tally.succeeded
        count.failed = (count.failed or 0) + tally.failed


def _add_run(count: StateCount, counted: dict[str, int]) -> None:
    count.running += counted["running"]
    count.succeeded = (count.succeeded or 0) + counted["succeeded"]
    count.failed = (count.failed or 0) + sum(counted[name] for name in _UNSUCCESSFUL)
    count.pending = (count.pending or 0) + counted["pending"]
    count.total = (count.total or 0) + counted["total"]
