"""What a sandbox changes in this process while it is open, each with its way back."""

from __future__ import annotations

import io
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paceline import bootstrap, observability
from sandbox.scheduler import Scheduler

# How a line of the log begins that CloudWatch makes metrics of, and how many such lines are kept: a send has one.
_METRICS, _MOST_METRICS = '{"_aws"', 50_000


class LogSink(io.TextIOBase):
    """Keeps what the functions log, a line each. metrics: the lines that are only numbers, the last of them.

    watchers: told of each text that is written, numbers too.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.metrics: deque[str] = deque(maxlen=_MOST_METRICS)
        self.watchers: list[Callable[[str], None]] = []

    def write(self, text: str) -> int:
        self.lines += [line for line in text.splitlines() if line]
        return len(text)


class _Sorted(io.TextIOBase):
    """Hands a sink what is written, numbers apart."""

    def __init__(self, logs: LogSink) -> None:
        self._logs = logs

    def write(self, text: str) -> int:
        for watcher in self._logs.watchers:
            watcher(text)
        if not text.startswith(_METRICS):
            return self._logs.write(text)
        self._logs.metrics.append(text.rstrip("\n"))
        return len(text)


@contextmanager
def environment_kept() -> Iterator[None]:
    """Put the environment back as it was."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def clock_of(scheduler: Scheduler) -> Iterator[None]:
    """Let the functions read the scheduler's time."""
    real = bootstrap.SystemClock.now
    bootstrap.SystemClock.now = lambda self: scheduler.now()  # type: ignore[method-assign]
    try:
        yield
    finally:
        bootstrap.SystemClock.now = real  # type: ignore[method-assign]


@contextmanager
def logs_to(logs: LogSink) -> Iterator[None]:
    """Let the functions log to `logs`."""
    handlers = [handler for handler in observability.logger.handlers if isinstance(handler, logging.StreamHandler)]
    before = [(handler, handler.stream) for handler in handlers]
    for handler, _ in before:
        handler.setStream(_Sorted(logs))
    try:
        yield
    finally:
        for handler, stream in before:
            handler.setStream(stream)
