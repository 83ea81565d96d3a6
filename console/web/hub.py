"""Live pages: each is looked at once for all who see it, and sent to them when it has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable
from dataclasses import dataclass

import click
from anyio import to_thread

from console.web.rendering import Content

# After a look that failed: the system may be restarting, or may not bear more.
AFTER_TROUBLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class News:
    """kind: "page" with its HTML; "trouble" with a sentence: what is seen is no longer up to date; "over".

    is_last: of a page: it cannot change any more, and "over" comes next.
    """

    kind: str
    text: str
    is_last: bool = False


class Topic:
    """One page, for all who see it. look: returns it; it may block."""

    def __init__(self, look: Callable[[], Content], every: float) -> None:
        self._look = look
        self._every = every
        self._news: News | None = None
        self._number = 0
        self._changed = asyncio.Condition()
        self._task = asyncio.create_task(self._go_on())

    async def after(self, number: int) -> tuple[int, News]:
        """Wait for news after the one with this number; return its number and it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._number > number)
            assert self._news is not None
            return self._number, self._news

    def end(self) -> None:
        """Look no more."""
        self._task.cancel()

    async def _go_on(self) -> None:
        news = None
        while news is None or not news.is_last:
            began = time.monotonic()
            news = await self._look_once()
            if news != self._news:
                async with self._changed:
                    self._news, self._number = news, self._number + 1
                    self._changed.notify_all()
            took = time.monotonic() - began
            pause = AFTER_TROUBLE_SECONDS if news.kind == "trouble" else self._every
            # A system that answers slowly is asked less: looks take half of its time at most.
            await asyncio.sleep(max(pause - took, took, 0.05))

    async def _look_once(self) -> News:
        try:
            made = await to_thread.run_sync(self._look)
            return News("page", made.html, is_last=not made.is_live)
        except click.ClickException as error:
            return News("trouble", error.message)
        except Exception as error:  # a fault of the page must be seen by whoever looks at it, and end
            return News("trouble", f"This page could not be made anew ({type(error).__name__}); the log says more.")


class Hub:
    """The live pages that are seen now, by name."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._topics: dict[Hashable, Topic] = {}
        self._seen_by: dict[Hashable, int] = {}

    async def follow(self, name: Hashable, look: Callable[[], Content]) -> AsyncIterator[News]:
        """Yield a page's news, beginning with how it is now, until whoever follows it leaves."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = Topic(look, self._every)
        self._seen_by[name] = self._seen_by.get(name, 0) + 1
        try:
            number = 0
            while True:
                number, news = await topic.after(number)
                yield news
                if news.is_last:
                    yield News("over", "")
                    return
        finally:
            self._seen_by[name] -= 1
            if not self._seen_by[name]:
                del self._seen_by[name], self._topics[name]
                topic.end()
