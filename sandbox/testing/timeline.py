"""What a test does with time: let it pass to the end, to a moment, or until a state is entered."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

from paceline.moments import to_us
from sandbox.engine import Engine, Execution
from sandbox.scheduler import Scheduler, Stalled
from sandbox.testing.history import root_of, state_names, states_entered


class NotReached(AssertionError):
    """What was waited for did not come; the text says what came instead."""


def moment(value: datetime | str) -> datetime:
    """Return an aware moment; a text is ISO 8601, and without an offset it is UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Timeline:
    """A virtual clock and the executions on it."""

    def __init__(self, scheduler: Scheduler, engine: Engine) -> None:
        self._scheduler = scheduler
        self._engine = engine

    @property
    def now(self) -> datetime:
        """The time in the sandbox."""
        return self._scheduler.now()

    def until(self, when: datetime | str) -> None:
        """Let time pass until a moment; what happens at it has happened."""
        target = to_us(moment(when))
        if target < self._scheduler.microseconds:
            raise ValueError(f"{when} is past: it is {self.now.isoformat()}")
        self._scheduler.call_at(target, lambda: None)  # an empty calendar does not move the clock by itself
        self._scheduler.run(deadline=target)

    def advance(self, duration: timedelta) -> None:
        """Let a duration pass."""
        self.until(self.now + duration)

    def until_done(self, executions: Iterable[Execution]) -> None:
        """Let time pass until executions are over, however they end. Raises: NotReached."""
        for execution in executions:
            try:
                self._scheduler.run(until=execution.done)
            except Stalled:
                raise NotReached(
                    f"{execution.name} waits for what cannot come: {_way(self._engine, execution)}"
                ) from None

    def until_state(self, name: str, execution: Execution) -> Execution:
        """Let time pass until an execution, or a child of it, enters a state anew; return the one that did.

        Raises: NotReached, where it ends without; ValueError, where its definition has no such state.
        """
        _check_name(self._engine, execution, name)
        reached = self._scheduler.future()

        def look(entering: Execution, state: str) -> None:
            if state == name and root_of(self._engine, entering) is execution:
                reached.set(entering)

        execution.done.when_done(lambda: reached.set(None))
        self._engine.watchers.append(look)
        try:
            self._scheduler.run(until=reached)
        except Stalled:
            reached.set(None)
        finally:
            self._engine.watchers.remove(look)
        if reached.value is None:
            end = f"{execution.status}: {_way(self._engine, execution)}"
            raise NotReached(f"{execution.name} did not enter {name!r}. It is {end}")
        found: Execution = reached.value
        return found


def _check_name(engine: Engine, execution: Execution, name: str) -> None:
    names = state_names(engine.state_machine(execution.state_machine_arn).definition)
    if name not in names:
        close = get_close_matches(name, names, 1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(names)}"
        raise ValueError(f"the state machine has no state {name!r}{hint}")


def _way(engine: Engine, execution: Execution) -> str:
    failure = f" ({execution.error}: {execution.cause})" if execution.error else ""
    return " → ".join(states_entered(execution)[-12:]) + failure
