"""Who is at a browser: an operator's key, kept in the console's memory and nowhere else."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from paceline.api_keys import key_id_of

COOKIE = "paceline_console"
# A day's work; whoever leaves a browser open overnight signs in again.
IDLE_SECONDS = 12 * 3600
_MOST = 10_000


@dataclass(slots=True)
class Session:
    """key: the operator's; "": not signed in. token: what each of its forms carries. told: shown on its next page."""

    id: str
    key: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    told: list[tuple[str, str]] = field(default_factory=list)
    seen_at: float = 0.0

    @property
    def key_id(self) -> str:
        """The key's public part, by which the audit names who did something."""
        return key_id_of(self.key) or ("a key" if self.key else "")


class Sessions:
    """The sessions of this process. key: what a new one is signed in with; "": nothing."""

    def __init__(self, key: str, now: Callable[[], float] = time.monotonic) -> None:
        self._key = key
        self._now = now
        self._found: dict[str, Session] = {}

    def of(self, cookie: str) -> Session:
        """Return the session of a cookie, or a new one."""
        session = self._found.get(cookie)
        if session is None or self._now() - session.seen_at > IDLE_SECONDS:
            session = self._begin(self._key)
        session.seen_at = self._now()
        return session

    def sign_in(self, before: Session, key: str) -> Session:
        """Return a new session with the key, in place of the one before: nobody can have prepared its id."""
        self._found.pop(before.id, None)
        return self._begin(key)

    def sign_out(self, session: Session) -> None:
        """Forget the session and its key; what still looks with it is refused from now on."""
        self._found.pop(session.id, None)
        session.key = ""

    def _begin(self, key: str) -> Session:
        if len(self._found) >= _MOST:
            # Visitors without a key first: however many come, they push out nobody who signed in.
            oldest = min(self._found.values(), key=lambda one: (bool(one.key), one.seen_at))
            del self._found[oldest.id]
        session = Session(secrets.token_urlsafe(32), key, seen_at=self._now())
        self._found[session.id] = session
        return session
