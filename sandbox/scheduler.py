"""One clock and one line of events for the whole sandbox: the reason why a run is repeatable.

Everything that takes time (a Wait state, a function, a call to DynamoDB, the carrier) is a greenlet that sleeps
here. Exactly one greenlet runs at a time; it gives way only where it sleeps or waits. Events at the same instant
run in the order in which they were asked for, so the same seed gives the same timeline.
"""

from __future__ import annotations

import heapq
import threading
import time as real_time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NoReturn

from greenlet import GreenletExit, getcurrent, greenlet

from paceline.moments import MICROSECONDS, from_us, to_us


class Stalled(Exception):
    """Nothing is left to happen, yet the run is not over: what it waits for can never come."""


class Timer:
    """A callback at a moment; `cancel()` makes it a no-op."""

    __slots__ = ("arguments", "at", "callback", "cancelled")

    def __init__(self, at: int, callback: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self.at = at
        self.callback = callback
        self.arguments = arguments
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True
        self.arguments = ()  # it stays in the heap until its moment, often minutes: its task need not


class Future:
    """A value that somebody will set once; tasks wait for it."""

    __slots__ = ("_scheduler", "_waiters", "done", "error", "value")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiters: list[Callable[[], None]] = []
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None

    def set(self, value: Any = None) -> None:
        """Set the value. The first set wins; a later one is ignored."""
        self._finish(value, None)

    def fail(self, error: BaseException) -> None:
        """Make every waiter raise `error`. The first set wins."""
        self._finish(None, error)

    def settle_as(self, other: Future) -> None:
        """Take the value or the error of another one that is done. The first set wins."""
        self._finish(other.value, other.error)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        if self.done:
            return
        self.done, self.value, self.error = True, value, error
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter()

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call back once the value is there (now, if it is)."""
        if self.done:
            callback()
        else:
            self._waiters.append(callback)

    def wait(self, timeout_seconds: float | None = None) -> Any:
        """Return the value, waiting at most `timeout_seconds`. Raises: TimeoutError, or the error that was set."""
        if not self.done:
            self._scheduler._wait_for(self, timeout_seconds)
        if self.error is not None:
            raise self.error
        return self.value


class Task(Future):
    """A greenlet of the scheduler; as a Future it carries the function's result or error."""

    __slots__ = ("_greenlet", "_resume_token", "context", "name")

    def __init__(
        self, scheduler: Scheduler, function: Callable[..., Any], arguments: tuple[Any, ...], name: str
    ) -> None:
        super().__init__(scheduler)
        self.name = name
        self.context: dict[str, Any] = {}
        self._resume_token: object = None
        self._greenlet = greenlet(lambda: self._run(function, arguments), parent=scheduler._hub)
        self._greenlet.paceline_task = self

    def _run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            self.set(function(*arguments))
        except GreenletExit as exit_:
            self.fail(exit_)
        except Exception as error:  # handed to whoever waits for the task
            self.fail(error)
        finally:
            self._scheduler._tasks.pop(self, None)

    def kill(self, error: BaseException | None = None) -> None:
        """Raise `error` (GreenletExit by default) inside the task, where it sleeps or waits. No-op when it is over."""
        if self.done:
            return
        self._scheduler._interrupt(self, error or GreenletExit())


class Scheduler:
    """A discrete-event loop.

    clock: "virtual" (sleeping costs nothing) or "wall" (real time, `speed` virtual seconds a second).
    """

    def __init__(self, start: datetime, clock: str = "virtual", speed: float = 1.0) -> None:
        if clock not in ("virtual", "wall"):
            raise ValueError(f"clock must be 'virtual' or 'wall', not {clock!r}")
        if not speed > 0:
            raise ValueError("speed must be greater than 0")
        self._now = to_us(start)
        self._heap: list[tuple[int, int, Timer]] = []
        self._sequence = 0
        self._hub = getcurrent()
        self._virtual = clock == "virtual"
        self._speed = speed
        self._wall_origin = (real_time.monotonic(), self._now)
        self._inbox: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._wakeup = threading.Condition()
        self._tasks: dict[Task, None] = {}  # those that are not over
        self._closed = False

    # -- time ---------------------------------------------------------------------------------------------------

    @property
    def microseconds(self) -> int:
        """Now, in microseconds since 1970."""
        return self._now

    def now(self) -> datetime:
        """Now, as an aware UTC datetime."""
        return from_us(self._now)

    def time(self) -> float:
        """Now, in seconds since 1970."""
        return self._now / MICROSECONDS

    @property
    def events(self) -> int:
        """How many events were asked for so far: what a run costs, the same on any machine."""
        return self._sequence

    def call_at(self, microseconds: int, callback: Callable[..., None], *arguments: Any) -> Timer:
        """Run `callback` at a moment (at once, if it is past)."""
        timer = Timer(max(microseconds, self._now), callback, arguments)
        self._sequence += 1
        heapq.heappush(self._heap, (timer.at, self._sequence, timer))
        return timer

    def call_after(self, seconds: float, callback: Callable[..., None], *arguments: Any) -> Timer:
        return self.call_at(self._now + round(seconds * MICROSECONDS), callback, *arguments)

    def call_from_thread(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Run `callback` in the loop, asked from another thread."""
        with self._wakeup:
            self._inbox.append((callback, arguments))
            self._wakeup.notify()

    # -- tasks --------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Task | None:
        """The task that is running, or None in the loop itself."""
        return getattr(getcurrent(), "paceline_task", None)

    def spawn(self, function: Callable[..., Any], *arguments: Any, name: str = "") -> Task:
        """Start a task at this instant, after what is already due. Its context is empty: it is nobody's errand."""
        task = Task(self, function, arguments, name)
        self._tasks[task] = None
        self.call_at(self._now, self._start, task)
        return task

    def future(self) -> Future:
        return Future(self)

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of the clock pass. Only inside a task."""
        self.sleep_until(self._now + round(seconds * MICROSECONDS))

    def sleep_until(self, microseconds: int) -> None:
        """Let time pass until a moment. Only inside a task."""
        task = self._require_task()
        token = task._resume_token = object()
        timer = self.call_at(microseconds, self._resume, task, token, None)
        try:
            self._switch_to_hub()
        finally:
            timer.cancel()

    def abandon(self, error: BaseException) -> NoReturn:
        """End the running task with `error` here and now: no line of it runs any more, not even a `finally`.

        It is kept until the scheduler is closed: what collects a greenlet raises an exit in it.
        """
        task = self._require_task()
        task._resume_token = None
        task.fail(error)
        while True:
            self._switch_to_hub()

    def run(self, until: Future | None = None, deadline: int | None = None) -> None:
        """Run events until `until` is done, the moment `deadline` is reached, or nothing is left.

        Raises: Stalled, when `until` can no longer be reached (virtual clock).
        """
        while until is None or not until.done:
            self._take_from_threads()
            while self._heap and self._heap[0][2].cancelled:
                heapq.heappop(self._heap)
            if not self._heap:
                if not self._virtual and (until is not None or deadline is not None):
                    self._pass_real_time(deadline)
                    if deadline is not None and self._now >= deadline:
                        return
                    continue
                if until is not None:
                    raise Stalled("nothing is left to happen, and the run has not ended")
                return
            at, _, timer = self._heap[0]
            if deadline is not None and at > deadline:
                self._advance(deadline)
                return
            if not self._advance(at):
                continue
            heapq.heappop(self._heap)
            timer.callback(*timer.arguments)

    def serve(self, until: Future) -> None:
        """Run until `until` is done; where nothing is left to happen, wait for what another thread asks for.

        Meanwhile the wall clock goes on and the virtual one stands still. The wall clock's count begins here.
        """
        self._wall_origin = (real_time.monotonic(), self._now)
        while not until.done:
            try:
                self.run(until)
            except Stalled:
                with self._wakeup:
                    self._wakeup.wait_for(lambda: bool(self._inbox))

    def close(self) -> None:
        """End every task where it stands; nothing happens any more. Its `finally` blocks run, and none of them waits.

        Not collected otherwise: Python does not see what the frames of a suspended greenlet hold, itself among it.
        """
        self._closed = True
        while self._tasks:
            task, _ = self._tasks.popitem()
            if task._greenlet:  # it has begun
                task._greenlet.throw(GreenletExit)
        self._heap.clear()

    def check_open(self) -> None:
        """Raises: GreenletExit, once the scheduler is closed: what ends then must not begin anything."""
        if self._closed:
            raise GreenletExit

    # -- inside -------------------------------------------------------------------------------------------------

    def _start(self, task: Task) -> None:
        if not task.done:
            task._greenlet.switch()

    def _resume(self, task: Task, token: object, error: BaseException | None) -> None:
        if task._resume_token is not token or task.done:
            return
        task._resume_token = None
        if error is None:
            task._greenlet.switch()
        else:
            task._greenlet.throw(error)

    def _interrupt(self, task: Task, error: BaseException) -> None:
        if task is self.current:  # it runs, so there is no wait in which the error could meet it
            raise error
        if task._greenlet.dead or not task._greenlet:  # never started: it ends here
            task.fail(error)
            self._tasks.pop(task, None)
            return
        token = task._resume_token = object()
        self.call_at(self._now, self._resume, task, token, error)

    def _wait_for(self, future: Future, timeout_seconds: float | None) -> None:
        task = self._require_task()
        token = task._resume_token = object()
        future.when_done(lambda: self._wake(task, token))
        timer = None
        if timeout_seconds is not None:
            timer = self.call_after(timeout_seconds, self._resume, task, token, TimeoutError())
        try:
            self._switch_to_hub()
        finally:
            if timer is not None:
                timer.cancel()

    def _wake(self, task: Task, token: object) -> None:
        self.call_at(self._now, self._resume, task, token, None)

    def _switch_to_hub(self) -> None:
        self.check_open()
        self._hub.switch()

    def _require_task(self) -> Task:
        if (task := self.current) is None:
            raise RuntimeError("only a task of the scheduler can wait")
        return task

    def _advance(self, moment: int) -> bool:
        """Move the clock to `moment`; on the wall clock, wait for it. False: something came in meanwhile."""
        if self._virtual:
            self._now = max(self._now, moment)
            return True
        return self._pass_real_time(moment)

    def _wall_now(self) -> int:
        real, virtual = self._wall_origin
        return virtual + round((real_time.monotonic() - real) * self._speed * MICROSECONDS)

    def _pass_real_time(self, moment: int | None) -> bool:
        with self._wakeup:
            if not self._inbox:
                wait = 0.5 if moment is None else (moment - self._wall_now()) / MICROSECONDS / self._speed
                if wait > 0:
                    self._wakeup.wait(min(wait, 0.5))
            self._now = max(self._now, min(self._wall_now(), moment) if moment is not None else self._wall_now())
            return not self._inbox and moment is not None and self._now >= moment

    def _take_from_threads(self) -> None:
        if self._inbox:
            with self._wakeup:
                inbox, self._inbox = self._inbox, []
            for callback, arguments in inbox:
                self.call_at(self._now, callback, *arguments)
