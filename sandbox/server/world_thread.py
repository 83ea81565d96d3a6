"""The thread in which the sandbox lives: all of its work, moto's too, is done there, one thing at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sandbox.scheduler import Task
from sandbox.world import Sandbox

T = TypeVar("T")


class Stopped(Exception):
    """The sandbox is no longer there to answer."""


class WorldThread(threading.Thread):
    """Builds a sandbox in a thread of its own (greenlets belong to the thread that made them) and serves it.

    prepare: called with the sandbox in that thread, before anything is served; its value is `prepared`.
    on_end: called, in that thread, when the thread ends, for whatever reason.
    """

    def __init__(
        self,
        make: Callable[[], Sandbox],
        prepare: Callable[[Sandbox], Any] = lambda sandbox: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(name="sandbox", daemon=True)
        self.sandbox: Sandbox
        self.prepared: Any = None
        self.error: BaseException | None = None
        self._make = make
        self._prepare = prepare
        self._on_end = on_end
        self._ready = threading.Event()
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._ended = False

    def begin(self) -> None:
        """Start, and return once the sandbox serves. Raises: what hindered it."""
        self.start()
        self._ready.wait()
        if self.error is not None:
            raise self.error

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Run a function as a task of the sandbox; from any thread. The future fails with Stopped when it is over."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._ended:
                answer.set_exception(Stopped("the sandbox has stopped"))
                return answer
            self._open.add(answer)
        self.sandbox.scheduler.call_from_thread(self._spawn, answer, function, arguments)
        return answer

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Like `submit`, and wait for the result."""
        return self.submit(function, *arguments).result()

    def stop(self, timeout_seconds: float = 10.0) -> None:
        """End the sandbox and wait for its thread."""
        if self.is_alive() and self._ready.is_set():
            self.sandbox.scheduler.call_from_thread(lambda: self._told_to_stop.set())
            self.join(timeout_seconds)

    # -- in the sandbox's thread ------------------------------------------------------------------------------------

    def run(self) -> None:
        try:
            with self._make() as self.sandbox:
                self._told_to_stop = self.sandbox.scheduler.future()
                self.prepared = self._prepare(self.sandbox)
                self._ready.set()
                self.sandbox.scheduler.serve(self._told_to_stop)
        except BaseException as error:  # a fault of the sandbox: kept for whoever started the thread
            self.error = error
        finally:
            self._end()

    def _spawn(self, answer: Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        task = self.sandbox.scheduler.spawn(function, *arguments, name="request")
        task.when_done(lambda: self._finish(answer, task))

    def _finish(self, answer: Future[Any], task: Task) -> None:
        with self._lock:
            self._open.discard(answer)
        if not answer.set_running_or_notify_cancel():
            return
        if isinstance(task.error, Exception):
            answer.set_exception(task.error)
        elif task.error is not None:  # GreenletExit: not for another thread's loop
            answer.set_exception(Stopped("the request was killed inside the sandbox"))
        else:
            answer.set_result(task.value)

    def _end(self) -> None:
        with self._lock:
            self._ended, waiting = True, list(self._open)
        for answer in waiting:
            if not answer.done() and answer.set_running_or_notify_cancel():
                answer.set_exception(Stopped("the sandbox has stopped"))
        self._ready.set()
        self._on_end()
