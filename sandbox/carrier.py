"""A simulated carrier behind Twilio's wire format: it accepts, throttles, times out, filters, and sends receipts.

Its book is the sandbox's independent witness of what was sent, and when.
"""

from __future__ import annotations

import json
import random
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime
from sys import intern
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx

from paceline.adapters.twilio import signature
from paceline.segments import measure
from sandbox.gateway import Answer
from sandbox.latency import Latencies, lognormal
from sandbox.scheduler import Scheduler


@dataclass(frozen=True)
class Fate:
    """What becomes of an accepted message: the last status and error code of its receipts; "" sends none."""

    status: str
    error_code: str = ""


@dataclass(frozen=True)
class Script:
    """What the carrier does with the messages to one number, instead of by chance.

    refused: Twilio's error code. throttles: so many calls are answered 429 first. silent: it accepts and never answers.
    delay: seconds until its receipts; None: by
    chance. receipts: how often each comes; 0: they are lost, and only asking tells what became of it. words: instead of
    all that, each receipt that comes: seconds after the acceptance, status, error code.
    """

    fate: Fate = Fate("delivered")
    refused: str = ""
    throttles: int = 0
    silent: bool = False
    delay: float | None = None
    receipts: int = 1
    words: tuple[tuple[float, str, str], ...] = ()


DELIVERED = Fate("delivered")
FILTERED = Fate("undelivered", "30007")
NO_FINAL_RECEIPT = Fate("")


@dataclass(frozen=True)
class Profile:
    """How the carrier behaves.

    shares: the fates and their weights. exact: instead, a fate for each message, so many of each, in seeded order.
    throttled, failing, silent: shares of calls answered 429, answered 503 without accepting, accepted without an
    answer. refused: shares by Twilio's error code of numbers that it will not take. doubled: shares of receipts sent
    twice. intermediate: whether `sent` comes before the final status. retry_after: seconds, in a 429.
    callback_tries: how often a callback is sent that our side fails to take (5xx). scripts: by phone number.
    """

    shares: tuple[tuple[Fate, float], ...] = (
        (DELIVERED, 0.945),
        (FILTERED, 0.030),
        (Fate("undelivered", "30003"), 0.016),
        (Fate("undelivered", "30006"), 0.009),
    )
    exact: tuple[tuple[Fate, int], ...] = ()
    throttled: float = 0.0
    failing: float = 0.0
    silent: float = 0.0
    refused: tuple[tuple[str, float], ...] = (("21614", 0.002),)
    doubled: float = 0.01
    intermediate: bool = True
    retry_after: int = 5
    callback_tries: int = 4
    scripts: Mapping[str, Script] = field(default_factory=dict)


@dataclass(slots=True)
class Entry:
    """One accepted message in the carrier's book. at: microseconds since 1970, when it was accepted.

    taken: the status of each receipt that our side took (2xx), in order.
    """

    sid: str
    at: int
    to: str
    sender: str
    body: str
    parts: int
    callback: str
    status: str = "queued"
    error_code: str = ""
    taken: tuple[str, ...] = ()

    @property
    def message_id(self) -> str:
        """Our id, as it travelled in the callback's address."""
        return parse_qs(urlsplit(self.callback).query)["message_id"][0]


@dataclass
class Carrier:
    """The carrier. post: how a callback reaches the API (method, url, headers, body) → answer; inside a task."""

    scheduler: Scheduler
    latencies: Latencies
    rng: random.Random
    profile: Profile
    account_sid: str
    auth_token: str
    post: Callable[[str, str, dict[str, str], bytes], Answer]
    book: list[Entry] = field(default_factory=list)
    by_sid: dict[str, Entry] = field(default_factory=dict)
    by_number: dict[str, list[Entry]] = field(default_factory=dict)
    callbacks_failed: int = 0
    final: int = 0
    delivered: int = 0

    def __post_init__(self) -> None:
        self._throttled: Counter[str] = Counter()
        self._receipt_delay = lognormal(self.rng, 4.0, 90.0)  # seconds: most handsets answer at once, some are off
        self.behave(self.profile)

    def behave(self, profile: Profile) -> None:
        """Behave so from now on; what was accepted before keeps its fate."""
        self.profile = profile
        fates = [fate for fate, count in self.profile.exact for _ in range(count)]
        self.rng.shuffle(fates)
        self._exact = deque(fates)

    def handle(self, method: str, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Answer one request to Twilio's API. Raises: httpx.ReadTimeout, where it accepts and never answers."""
        self.scheduler.sleep(self.latencies.to_carrier())
        parts = urlsplit(url)
        path = parts.path.removeprefix(f"/2010-04-01/Accounts/{self.account_sid}/Messages")
        if method == "POST" and path == ".json":
            answer = self._send(dict(parse_qsl(body.decode())))
        elif method == "GET" and path == ".json":
            answer = self._list(dict(parse_qsl(parts.query)))
        elif method == "GET" and path.startswith("/"):
            answer = self._show(path.removeprefix("/").removesuffix(".json"))
        else:
            answer = self._problem(404, 20404, "The requested resource was not found")
        self.scheduler.sleep(self.latencies.from_carrier())
        return answer

    def parts_accepted(self) -> list[tuple[int, int, str]]:
        """Return (microseconds, parts, message id) of each accepted message, in the order of acceptance."""
        return [(entry.at, entry.parts, entry.message_id) for entry in self.book]

    # -- sending ----------------------------------------------------------------------------------------------------

    def _send(self, form: dict[str, str]) -> Answer:
        chance = self.rng.random()
        if chance < self.profile.throttled:
            return self._problem(429, 20429, "Too Many Requests", {"retry-after": str(self.profile.retry_after)})
        chance -= self.profile.throttled
        if chance < self.profile.failing:
            return self._problem(503, 20503, "Service unavailable")
        chance -= self.profile.failing
        script = self.profile.scripts.get(form["To"])
        if script and self._throttled[form["To"]] < script.throttles:
            self._throttled[form["To"]] += 1
            return self._problem(429, 20429, "Too Many Requests", {"retry-after": str(self.profile.retry_after)})
        for code, share in ((script.refused, 1.0),) if script else self.profile.refused:
            if code and chance < share and not self.profile.exact:
                return self._problem(400, int(code), "The number cannot be messaged")
            chance -= share
        entry = self._accept(form, script)
        if script.silent if script else chance < self.profile.silent:
            self.scheduler.sleep(10)
            raise httpx.ReadTimeout("the carrier did not answer")
        return self._json(201, self._shown(entry))

    def _accept(self, form: dict[str, str], script: Script | None) -> Entry:
        sid = f"SM{self.rng.getrandbits(128):032x}"
        parts = measure(form["Body"]).parts
        sender, body = intern(form["From"]), intern(form["Body"])  # the book keeps one copy of what many messages share
        entry = Entry(sid, self.scheduler.microseconds, form["To"], sender, body, parts, form["StatusCallback"])
        self.book.append(entry)
        self.by_sid[sid] = entry
        self.by_number.setdefault(entry.to, []).append(entry)
        if script:
            self._follow(script, entry)
        else:
            self._plan_receipts(entry)
        return entry

    def _follow(self, script: Script, entry: Entry) -> None:
        delay = self._receipt_delay() if script.delay is None else script.delay
        for at, status, code in script.words:
            self.scheduler.call_after(at, self._start_receipt, entry, status, code)
        if script.words:
            return
        for status, code, at in (("sent", "", delay * 0.2), (script.fate.status, script.fate.error_code, delay)):
            if status and not script.receipts:
                self.scheduler.call_after(at, self._settle, entry, status, code)
            for number in range(script.receipts if status else 0):
                self.scheduler.call_after(at + 2 * number, self._start_receipt, entry, status, code)

    def _plan_receipts(self, entry: Entry) -> None:
        fate = self._fate()
        delay = self._receipt_delay()
        if self.profile.intermediate:
            self.scheduler.call_after(delay * 0.2, self._start_receipt, entry, "sent", "")
        if fate.status:
            self.scheduler.call_after(delay, self._start_receipt, entry, fate.status, fate.error_code)
            if self.rng.random() < self.profile.doubled:
                self.scheduler.call_after(delay * 1.5, self._start_receipt, entry, fate.status, fate.error_code)

    def _fate(self) -> Fate:
        if self._exact:
            return self._exact.popleft()
        fates, weights = zip(*self.profile.shares, strict=True)
        fate: Fate = self.rng.choices(fates, weights)[0]
        return fate

    # -- receipts ---------------------------------------------------------------------------------------------------

    def _start_receipt(self, entry: Entry, status: str, error_code: str) -> None:
        self._settle(entry, status, error_code)
        self.scheduler.spawn(self._deliver_receipt, entry, status, error_code, name="receipt")

    def _settle(self, entry: Entry, status: str, error_code: str) -> None:
        if entry.status in ("queued", "sent") and status != "sent":
            self.final += 1
            self.delivered += status == "delivered"
        entry.status, entry.error_code = status, error_code

    def _deliver_receipt(self, entry: Entry, status: str, error_code: str) -> None:
        fields = {
            "MessageSid": entry.sid,
            "SmsSid": entry.sid,
            "AccountSid": self.account_sid,
            "MessageStatus": status,
            "SmsStatus": status,
            "To": entry.to,
            "From": entry.sender,
            "ApiVersion": "2010-04-01",
        }
        if error_code:
            fields["ErrorCode"] = error_code
        if self.call_back(entry.callback, fields).status < 300:
            entry.taken += (status,)

    def call_back(self, url: str, fields: dict[str, str]) -> Answer:
        """Post a signed callback, again where our side failed. Inside a task."""
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "x-twilio-signature": signature(self.auth_token, url, fields),
        }
        for attempt in range(self.profile.callback_tries):
            answer = self.post("POST", url, headers, urlencode(fields).encode())
            if answer.status < 500:
                break
            self.scheduler.sleep(2.0**attempt)
        if answer.status >= 400:
            self.callbacks_failed += 1
        return answer

    # -- the provider's own list --------------------------------------------------------------------------------------

    def _list(self, query: dict[str, str]) -> Answer:
        """Return one page, the newest first: Page counts from 0, PageSize is 50 where not said; all without To."""
        listed = self.by_number.get(query["To"], []) if "To" in query else self.book
        found = [one for one in reversed(listed) if query.get("From") in (None, one.sender)]
        page, size = int(query.get("Page", 0)), int(query.get("PageSize", 50))
        following = None
        if len(found) > (page + 1) * size:
            uri = f"/2010-04-01/Accounts/{self.account_sid}/Messages.json"
            following = f"{uri}?{urlencode(query | {'Page': page + 1})}"
        shown = [self._shown(entry) for entry in found[page * size : (page + 1) * size]]
        return self._json(200, {"messages": shown, "next_page_uri": following})

    def _show(self, sid: str) -> Answer:
        entry = self.by_sid.get(sid)
        if entry is None:
            return self._problem(404, 20404, "The requested resource was not found")
        return self._json(200, self._shown(entry))

    def _shown(self, entry: Entry) -> dict[str, Any]:
        moment = self.scheduler.now() - timedelta(microseconds=self.scheduler.microseconds - entry.at)
        return {
            "sid": entry.sid,
            "status": entry.status,
            "error_code": int(entry.error_code) if entry.error_code else None,
            "to": entry.to,
            "from": entry.sender,
            "body": entry.body,
            "num_segments": str(entry.parts),
            "date_created": format_datetime(moment),
        }

    def _problem(self, status: int, code: int, message: str, headers: dict[str, str] | None = None) -> Answer:
        return self._json(status, {"code": code, "message": message, "status": status}, headers)

    def _json(self, status: int, body: object, headers: dict[str, str] | None = None) -> Answer:
        sent = {"content-type": "application/json", "date": format_datetime(self.scheduler.now(), usegmt=True)}
        return Answer(status, sent | (headers or {}), json.dumps(body).encode())
