"""Signing in: with an operator's key that the API takes, so that the audit names who did what."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

import click

from console.operator.api import at
from console.web.site import Site
from paceline.api_keys import key_id_of

# A key has over a hundred random bits: the limit keeps the API from being asked, not the key from being guessed.
_TRIES, _IN_SECONDS = 10, 60.0


class SignIn:
    """Asks the API about keys; from one address not more than ten a minute."""

    def __init__(self, site: Site, now: Callable[[], float] = time.monotonic) -> None:
        self._site = site
        self._now = now
        self._lock = Lock()
        self._tries: dict[str, deque[float]] = {}

    def why_not(self, key: str, address: str) -> str:
        """Return why a key is not taken, in a sentence; "" where it is an operator's."""
        if not self._may_try(address):
            return "Too many tries from this address: wait a minute."
        if not key_id_of(key):
            return "That is no key of Paceline's: one reads pk_…_…, and is shown once, when it is made."
        try:
            self._site.api(key).get(at("admin", "accounts"), limit=1)
        except click.ClickException as error:
            return error.message
        return ""

    def _may_try(self, address: str) -> bool:
        with self._lock:
            now = self._now()
            if len(self._tries) > 10_000:
                self._tries.clear()
            tries = self._tries.setdefault(address, deque())
            while tries and now - tries[0] > _IN_SECONDS:
                tries.popleft()
            if len(tries) >= _TRIES:
                return False
            tries.append(now)
            return True
