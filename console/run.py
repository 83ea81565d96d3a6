"""`paceline run`: one campaign in the sandbox, from its lead file to its report, by the API that customers use."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from paceline.campaigns import get_campaign
from paceline.progress import describe_campaign
from sandbox.carrier import Profile
from sandbox.customer import DEFAULT_PER_MINUTE, ApiRefused, Customer, set_up, table_of
from sandbox.scheduler import Stalled
from sandbox.world import START, Sandbox

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
    per_minute: int = DEFAULT_PER_MINUTE
    per_day: int | None = None
    concurrency: int | None = None
    credits: int = 1_000_000
    start: datetime | None = None
    seed: int = 1
    clock: str = "virtual"
    speed: float = 1.0
    out: Path | None = None
    profile: Profile = Profile()  # noqa: RUF009 (immutable)


@dataclass(frozen=True, slots=True)
class State:
    """How far a run is. final: messages with a final receipt, the delivered ones among them."""

    sent: int
    delivered: int
    final: int
    now: datetime
    held_by: list[dict[str, Any]]


class Progress(Protocol):
    """Where a run shows how far it is."""

    def planned(self, plan: dict[str, Any]) -> None: ...

    def moved(self, state: State) -> None: ...


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
    if options.out is not None:
        _prepare(options.out)
    begin = options.start or START
    with Sandbox(
        seed=options.seed,
        start=begin.astimezone(UTC),
        clock=options.clock,
        speed=options.speed,
        profile=options.profile,
    ) as sandbox:
        try:
            caps: dict[str, Any] = {
                "parts_per_minute": options.per_minute or DEFAULT_PER_MINUTE,
                "parts_per_day": options.per_day,
                "concurrency": options.concurrency,
            }
            customer = set_up(sandbox, credits=options.credits, **caps)
            campaign_id, plan = _create(customer, options, body, begin)
            progress.planned(plan)
            customer.post(f"/v1/campaigns/{campaign_id}/start")
            _live(sandbox, campaign_id, progress)
            report = customer.get(f"/v1/campaigns/{campaign_id}/report")
        except ApiRefused as refused:
            raise CannotRun(str(refused)) from None
        seconds = (sandbox.scheduler.now() - begin).total_seconds()
        files = {name: customer.download(url) for name, url in report.pop("files").items()}
        if options.out is not None:
            _write(options.out, files)
        timeline = files["timeline.csv"]
        summary = _summary(sandbox, report, timeline.decode(), seconds, time.monotonic() - started)
    return Result(report, summary, plan, options.out)


def plan_leads(options: Options) -> dict[str, Any]:
    """Return the API's plan for the campaign, which is not started. Raises: CannotRun."""
    body, begin = _read(options.leads), options.start or START
    with Sandbox(seed=options.seed, start=begin.astimezone(UTC)) as sandbox:
        caps: dict[str, Any] = {"parts_per_minute": options.per_minute, "parts_per_day": options.per_day}
        try:
            return _create(set_up(sandbox, credits=options.credits, **caps), options, body, begin)[1]
        except ApiRefused as refused:
            raise CannotRun(str(refused)) from None


def _read(leads: Path) -> bytes:
    try:
        return leads.read_bytes()
    except FileNotFoundError:
        raise CannotRun(f"There is no file {leads}; give the path of a CSV file of leads.") from None
    except OSError as error:
        raise CannotRun(f"The file {leads} cannot be read: {error.strerror}.") from None


def _create(customer: Customer, options: Options, body: bytes, start_at: datetime) -> tuple[str, dict[str, Any]]:
    """Create the campaign and plan it; return its id and the plan."""
    campaign = {"message": options.message, "route": options.route, "start_at": start_at.isoformat()}
    key = f"run-{options.seed}"
    campaign_id = customer.create(body, file_name=options.leads.name, idempotency_key=key, **campaign)
    return campaign_id, customer.plan(campaign_id)


def _live(sandbox: Sandbox, campaign_id: str, progress: Progress) -> None:
    """Let the world run until the campaign's execution ends. Looking on takes no time of its clock."""
    done = sandbox.execution(campaign_id).done
    table, last = table_of(sandbox), 0.0
    while not done.done:
        try:
            sandbox.scheduler.run(until=done, deadline=_next_look(sandbox))
        except Stalled:
            raise CannotRun("The campaign waits for something that cannot come any more; this is a fault.") from None
        if time.monotonic() - last >= REFRESH_SECONDS or done.done:
            last = time.monotonic()
            held_by = describe_campaign(table, get_campaign(table, campaign_id))["held_by"]
            carrier, now = sandbox.carrier, sandbox.scheduler.now()
            progress.moved(State(len(carrier.book), carrier.delivered, carrier.final, now, held_by))


def _next_look(sandbox: Sandbox) -> int:
    return sandbox.scheduler.microseconds + STEP // timedelta(microseconds=1)


def _write(out: Path, files: dict[str, bytes]) -> None:
    try:
        for name, content in files.items():
            (out / name).write_bytes(content)
    except OSError as error:
        raise CannotRun(f"The report cannot be written to {out}: {error.strerror}.") from None


def _prepare(out: Path) -> None:
    """Make the folder before the run: a report that has nowhere to go is known at once."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"The folder {out} cannot be made: {error.strerror}.") from None


def _summary(
    sandbox: Sandbox, report: dict[str, Any], timeline: str, virtual_seconds: float, wall_seconds: float
) -> dict[str, Any]:
    chosen = ("leads", "outcomes", "credits", "balanced")
    counters, sent = sandbox.counters, len(sandbox.carrier.book)
    functions_ms = 1000 * sum(usage.seconds for usage in sandbox.functions.usage.values())
    return {name: report[name] for name in chosen} | {
        "virtual_seconds": round(virtual_seconds, 3),
        "sending_seconds": _sending_seconds(report),
        "wall_seconds": round(wall_seconds, 3),
        "used_of_the_cap": _used_of_the_cap(report),
        "max_sent_in_60_seconds": _most_in_a_minute(sandbox, report, timeline),
        "lost_to": report["lost_to"],
        "conflicts": counters.conflicts,
        "conflicts_per_1000_sends": _per(counters.conflicts * 1000, sent),
        "shared_row_writes": counters.shared_row_writes,
        "shared_row_writes_per_1000_sends": _per(counters.shared_row_writes * 1000, sent),
        "reads_per_message": {
            "reconciliation": _per(counters.items_read["count_open"] + counters.items_read["reconcile"], sent),
            "report": _per(counters.items_read["report"], sent),
        },
        "state_transitions": sandbox.engine.transitions,
        "state_transitions_per_message": _per(sandbox.engine.transitions, sent),
        "function_ms_per_message": _per(functions_ms, sent),
        "status": report["status"],
        "reason": report["reason"],
    }


def _per(amount: float, sent: int) -> float:
    return round(amount / sent, 3) if sent else 0.0


def _used_of_the_cap(report: dict[str, Any]) -> dict[str, float]:
    """Return by route the share of its cap that was used, from its first message to its last."""
    used: dict[str, float] = {}
    for name, route in report["by_route"].items():
        if route["first_sent_at"] and (cap := route["parts_per_minute_cap"]):
            first, last = (datetime.fromisoformat(route[end]) for end in ("first_sent_at", "last_sent_at"))
            minutes = (last - first).total_seconds() / 60 + 1 / cap  # and the last part's own time
            used[name] = round(route["parts"] / (minutes * cap), 4)
    return used


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
