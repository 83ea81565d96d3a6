"""`paceline run`: one campaign in the sandbox, from its lead file to its report, by the API that customers use."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import boto3
import requests

from paceline.accounts import store_key
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.campaigns import get_campaign
from paceline.progress import describe_campaign
from sandbox.carrier import Profile
from sandbox.scheduler import Stalled
from sandbox.world import START, Sandbox

ACCOUNT_ID = "acme"
ROUTES: tuple[dict[str, Any], ...] = (
    {"name": "shared", "sender": "+12025550100"},
    {"name": "verizon", "sender": "+12025550101", "carriers": ["Verizon", "Verizon Wireless"]},
)
DEFAULT_PER_MINUTE = 240

# How much virtual time passes between two looks at the progress bar's clock.
STEP = timedelta(seconds=20)
# How often a person sees the bar move, in real seconds.
REFRESH_SECONDS = 0.2


class CannotRun(Exception):
    """The input cannot be used; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command's options. speed: virtual seconds a real second, with clock "wall"."""

    leads: Path
    message: str
    route: str | None = None
    per_minute: int | None = None
    per_day: int | None = None
    credits: int = 1_000_000
    start: datetime | None = None
    seed: int = 1
    clock: str = "virtual"
    speed: float = 1.0
    out: Path | None = None
    profile: Profile = Profile()  # noqa: RUF009 (immutable)


class Progress(Protocol):
    """Where a run shows how far it is."""

    def planned(self, plan: dict[str, Any]) -> None: ...

    def moved(self, *, sent: int, final: int, now: datetime, held_by: list[dict[str, Any]]) -> None: ...


@dataclass(frozen=True, slots=True)
class Result:
    """A run's end: the report as the API gives it, and the summary that `--json` prints."""

    report: dict[str, Any]
    summary: dict[str, Any]
    plan: dict[str, Any]
    out: Path | None

    @property
    def is_good(self) -> bool:
        return bool(self.summary["balanced"]) and self.report["status"] == "finished"


def run_campaign(options: Options, progress: Progress) -> Result:
    """Run the campaign. Raises: CannotRun."""
    started = time.monotonic()
    body = _read(options.leads)
    begin = options.start or START
    with Sandbox(
        seed=options.seed,
        start=begin.astimezone(UTC),
        clock=options.clock,
        speed=options.speed,
        profile=options.profile,
    ) as sandbox:
        customer = _Customer(sandbox, _set_up(sandbox, options))
        campaign_id = customer.create(options, begin)
        customer.upload(campaign_id, body)
        plan = customer.post(f"/v1/campaigns/{campaign_id}/plan")
        progress.planned(plan)
        customer.post(f"/v1/campaigns/{campaign_id}/start")
        _live(sandbox, campaign_id, progress)
        seconds = (sandbox.scheduler.now() - begin).total_seconds()
        report = customer.call("GET", f"/v1/campaigns/{campaign_id}/report")
        files = report.pop("files")
        timeline = requests.get(files["timeline.csv"], timeout=60).content
        if options.out is not None:
            _write(options.out, files)
        summary = _summary(sandbox, report, timeline.decode(), seconds, time.monotonic() - started)
    return Result(report, summary, plan, options.out)


def _read(leads: Path) -> bytes:
    try:
        return leads.read_bytes()
    except FileNotFoundError:
        raise CannotRun(f"There is no file {leads}; give the path of a CSV file of leads.") from None
    except OSError as error:
        raise CannotRun(f"The file {leads} cannot be read: {error.strerror}.") from None


def _set_up(sandbox: Sandbox, options: Options) -> str:
    """Create the account, its routes and its key, as an operator does; return the customer's key."""
    operator = "operator-of-the-sandbox"
    store_key(_table(sandbox), operator, "operators", "operator")
    admin = _Customer(sandbox, operator)
    admin.post("/v1/admin/accounts", {"account_id": ACCOUNT_ID, "credits": options.credits})
    for route in ROUTES:
        caps = {"parts_per_minute": options.per_minute or DEFAULT_PER_MINUTE, "parts_per_day": options.per_day}
        admin.post("/v1/admin/routes", {**route, **caps})
    return str(admin.post("/v1/admin/keys", {"account_id": ACCOUNT_ID})["api_key"])


def _table(sandbox: Sandbox) -> DynamoDBTable:
    return DynamoDBTable(boto3.client("dynamodb"), sandbox.outputs["TableName"])


@dataclass(frozen=True, slots=True)
class _Customer:
    """A client of the API."""

    sandbox: Sandbox
    key: str

    def call(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """Return the answer's JSON. Raises: CannotRun with the problem's own sentence."""
        answer = self.sandbox.call_api(method, path, body, self.key, **headers)
        content: dict[str, Any] = json.loads(answer.body or b"{}")
        if answer.status >= 400:
            raise CannotRun(content.get("detail") or content.get("message") or f"the API answered {answer.status}")
        return content

    def post(self, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        return self.call("POST", path, body, **headers)

    def create(self, options: Options, start_at: datetime) -> str:
        body = {
            "name": options.leads.name,
            "message": options.message,
            "file_name": "leads.csv",
            "route": options.route,
            "start_at": start_at.isoformat(),
        }
        return str(self.post("/v1/campaigns", body, idempotency_key=f"run-{options.seed}")["campaign_id"])

    def upload(self, campaign_id: str, body: bytes) -> None:
        """Upload the lead file as a customer does: a form post to the address that the API gives."""
        post = self.post(f"/v1/campaigns/{campaign_id}/upload")
        answer = requests.post(post["url"], data=post["fields"], files={"file": body}, timeout=60)
        if answer.status_code >= 300:
            raise CannotRun(f"The lead file could not be uploaded: the bucket answered {answer.status_code}.")


def _live(sandbox: Sandbox, campaign_id: str, progress: Progress) -> None:
    """Let the world run until the campaign's execution ends. Looking on takes no time of its clock."""
    done = sandbox.execution(campaign_id).done
    table, last = _table(sandbox), 0.0
    while not done.done:
        try:
            sandbox.scheduler.run(until=done, deadline=_next_look(sandbox))
        except Stalled:
            raise CannotRun("The campaign waits for something that cannot come any more; this is a fault.") from None
        if time.monotonic() - last >= REFRESH_SECONDS or done.done:
            last = time.monotonic()
            held_by = describe_campaign(table, get_campaign(table, campaign_id))["held_by"]
            carrier, now = sandbox.carrier, sandbox.scheduler.now()
            progress.moved(sent=len(carrier.book), final=carrier.final, now=now, held_by=held_by)


def _next_look(sandbox: Sandbox) -> int:
    return sandbox.scheduler.microseconds + STEP // timedelta(microseconds=1)


def _write(out: Path, files: dict[str, str]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, url in files.items():
            (out / name).write_bytes(requests.get(url, timeout=60).content)
    except OSError as error:
        raise CannotRun(f"The report cannot be written to {out}: {error.strerror}.") from None


def _summary(
    sandbox: Sandbox, report: dict[str, Any], timeline: str, virtual_seconds: float, wall_seconds: float
) -> dict[str, Any]:
    chosen = ("leads", "outcomes", "credits", "balanced")
    counters = sandbox.counters
    return {name: report[name] for name in chosen} | {
        "virtual_seconds": round(virtual_seconds, 3),
        "sending_seconds": _sending_seconds(report),
        "wall_seconds": round(wall_seconds, 3),
        "max_sent_in_60_seconds": _most_in_a_minute(sandbox, report, timeline),
        "lost_to": report["lost_to"],
        "conflicts": counters.conflicts,
        "shared_row_writes": counters.shared_row_writes,
        "state_transitions": sandbox.engine.transitions,
        "status": report["status"],
        "reason": report["reason"],
    }


def _sending_seconds(report: dict[str, Any]) -> float:
    """Return the seconds from the first message sent to the last."""
    routes = [route for route in report["by_route"].values() if route["first_sent_at"]]
    if not routes:
        return 0.0
    first = min(datetime.fromisoformat(route["first_sent_at"]) for route in routes)
    last = max(datetime.fromisoformat(route["last_sent_at"]) for route in routes)
    return round((last - first).total_seconds(), 3)


def _most_in_a_minute(sandbox: Sandbox, report: dict[str, Any], timeline: str) -> dict[str, int]:
    """Return the most parts in any 60 seconds by route: the larger of what we recorded and what the carrier saw."""
    route_of = {line.split(",")[0]: line.split(",")[1] for line in timeline.splitlines()[1:]}
    most = dict(report["max_sent_in_60_seconds"])
    accepted: dict[str, list[tuple[int, int]]] = {}
    for at, parts, message_id in sandbox.carrier.parts_accepted():
        accepted.setdefault(route_of[message_id.rsplit(".", 1)[1]], []).append((at, parts))
    for route, sends in accepted.items():
        most[route] = max(most.get(route, 0), most_in_window(sends, 60_000_000))
    return most


def most_in_window(sends: Iterable[tuple[int, int]], width: int) -> int:
    """Return the most parts in any half-open window [t, t + width) of (microseconds, parts), in ascending order."""
    window: deque[tuple[int, int]] = deque()
    total = most = 0
    for at, parts in sends:
        window.append((at, parts))
        total += parts
        while window[0][0] <= at - width:
            total -= window.popleft()[1]
        most = max(most, total)
    return most
