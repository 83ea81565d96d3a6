"""What people do while campaigns run: recipients write STOP, customers pause and cancel, operators change caps."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

import boto3

from paceline.moments import to_us
from sandbox.simulation.clients import Client
from sandbox.simulation.worlds.plans import Act, Person, PlannedAccount, PlannedCampaign, PlannedRoute
from sandbox.simulation.worlds.told import CapHistory, Paused, Told
from sandbox.world import Sandbox


class Stage(Protocol):
    """What acting needs of a world that is played."""

    world: Sandbox
    told: Told
    operator: Client

    def customer(self, account_id: str) -> Client: ...
    def person(self, index: int) -> Person: ...
    def account_of(self, campaign: str) -> str: ...


class Drawn(Protocol):
    """What drawing needs of a world that is drawn."""

    people: tuple[Person, ...]
    accounts: tuple[PlannedAccount, ...]
    routes: tuple[PlannedRoute, ...]
    campaigns: tuple[PlannedCampaign, ...]

    def moment(self) -> float: ...


def draw_acts(rng: random.Random, drawn: Drawn) -> tuple[Act, ...]:
    """Draw what is done, and when; what stops something is mostly followed by what lets it go on."""
    acts: list[Act] = []
    words = list(ACTS)
    for number in range(rng.randint(0, 7)):
        word = rng.choice([*words, "stop", "stop", "pause", "pause", "pause", "cancel"])
        act = Act(f"a{number}", drawn.moment(), word, _target(rng, word, drawn), _value(rng, word, drawn))
        acts.append(act)
        if (undo := UNDONE_BY.get(word)) and rng.random() < 0.7:
            acts.append(replace(act, tag=f"a{number}u", after=act.after + rng.uniform(1, 900), word=undo))
    return tuple(sorted(acts, key=lambda act: act.after))


def _target(rng: random.Random, word: str, drawn: Drawn) -> str:
    if word in ("pause", "resume", "cancel", "redrive"):
        return rng.choice(drawn.campaigns).tag
    if word in ("pace", "route_day", "disable", "enable"):
        return rng.choice(drawn.routes).name
    return rng.choice(drawn.accounts).account_id


def _value(rng: random.Random, word: str, drawn: Drawn) -> Any:
    match word:
        case "stop" | "opt_out":
            return rng.randrange(len(drawn.people))
        case "pace":
            return rng.choice((1, 3, 6, 20, 60, 240))
        case "route_day" | "account_day":
            return rng.choice((None, rng.randint(1, 12)))
        case "credits":
            return rng.randint(1, 30)
    return None


def act(stage: Stage, act: Act) -> None:
    """Do it, in a task."""
    ACTS[act.word](stage, act)


def _stop(stage: Stage, act: Act) -> None:
    """The person writes STOP to the account's sender; the provider tells us, as it tells of receipts."""
    number = stage.person(act.value).number
    url = f"{stage.world.outputs['ApiUrl']}/v1/callbacks/twilio?account_id={act.target}"
    sid = f"SM{int(act.tag.strip('au')):032x}"
    fields = {"MessageSid": sid, "From": number, "To": "+12025550100", "Body": "Stop."}
    if stage.world.carrier.call_back(url, fields).status < 300:
        stage.told.stops.setdefault((act.target, number), stage.world.scheduler.microseconds)


def _opt_out(stage: Stage, act: Act) -> None:
    number = stage.person(act.value).number
    if stage.customer(act.target).persist("POST", "/v1/opt-outs", {"phone_numbers": [number]}).status < 300:
        stage.told.stops.setdefault((act.target, number), stage.world.scheduler.microseconds)


def _pause(stage: Stage, act: Act) -> None:
    if (campaign_id := stage.told.campaigns.get(act.target)) is None:
        return
    answer = stage.customer(stage.account_of(act.target)).persist("POST", f"/v1/campaigns/{campaign_id}/pause")
    if answer.status < 300:
        paused_at = to_us(datetime.fromisoformat(json.loads(answer.body)["paused_at"]))
        stage.told.pauses.append(Paused(act.target, paused_at))


def _resume(stage: Stage, act: Act) -> None:
    """Ask for the end of the pause. It may come when somebody has paused again: then that pause is ended too."""
    if (campaign_id := stage.told.campaigns.get(act.target)) is None:
        return
    asked = stage.world.scheduler.microseconds
    _note_resumed(stage.told, act.target, asked)
    stage.customer(stage.account_of(act.target)).persist("POST", f"/v1/campaigns/{campaign_id}/resume")
    _note_resumed(stage.told, act.target, asked)


def _note_resumed(told: Told, campaign: str, at: int) -> None:
    told.pauses = [
        replace(one, resumed_at=at) if one.campaign == campaign and one.resumed_at is None else one
        for one in told.pauses
    ]


def _cancel(stage: Stage, act: Act) -> None:
    if (campaign_id := stage.told.campaigns.get(act.target)) is None:
        return
    answer = stage.customer(stage.account_of(act.target)).persist("POST", f"/v1/campaigns/{campaign_id}/cancel")
    if answer.status < 300:
        stage.told.cancelled.setdefault(act.target, stage.world.scheduler.microseconds)


def _redrive(stage: Stage, act: Act) -> None:
    """An operator lets an execution that failed go on, unless it came to a report that says so."""
    if (campaign_id := stage.told.campaigns.get(act.target)) is None:
        return
    machine = stage.world.outputs["CampaignStateMachineArn"]
    for execution in stage.world.engine.executions():
        if execution.name.startswith(campaign_id) and execution.redrive_status == "REDRIVABLE":
            shown = stage.customer(stage.account_of(act.target)).read("GET", f"/v1/campaigns/{campaign_id}")
            if shown.get("status") in ("running", "paused") and execution.state_machine_arn == machine:
                boto3.client("stepfunctions").redrive_execution(executionArn=execution.arn)


def _credits(stage: Stage, act: Act) -> None:
    """Buy; the key makes it once, however often it is asked for. What is not bought now is when all is healed."""
    path = f"/v1/admin/accounts/{act.target}/credits"
    answer = stage.operator.persist("POST", path, {"credits": act.value}, idempotency_key=f"buy-{act.tag}")
    if answer.status < 300:
        stage.told.bought[act.target] += act.value
    else:
        stage.world.scheduler.sleep(120)
        _credits(stage, act)


def _capped(histories: str, path: str, name: str) -> Callable[[Stage, Act], None]:
    def change(stage: Stage, act: Act) -> None:
        history: CapHistory = getattr(stage.told, histories)[act.target]
        number = history.change(act.value, stage.world.scheduler.microseconds)
        if stage.operator.persist("PATCH", f"{path}/{act.target}", {name: act.value}).status < 300:
            history.answer(number, stage.world.scheduler.microseconds)

    return change


def _set(path: str, **fields: Any) -> Callable[[Stage, Act], None]:
    def change(stage: Stage, act: Act) -> None:
        stage.operator.persist("PATCH", f"{path}/{act.target}", fields)

    return change


ROUTES, ACCOUNTS = "/v1/admin/routes", "/v1/admin/accounts"
ACTS: dict[str, Callable[[Stage, Act], None]] = {
    "stop": _stop,
    "opt_out": _opt_out,
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "redrive": _redrive,
    "credits": _credits,
    "pace": _capped("paces", ROUTES, "parts_per_minute"),
    "route_day": _capped("route_days", ROUTES, "parts_per_day"),
    "account_day": _capped("account_days", ACCOUNTS, "parts_per_day"),
    "disable": _set(ROUTES, is_enabled=False),
    "enable": _set(ROUTES, is_enabled=True),
    "suspend": _set(ACCOUNTS, operational_status="suspended"),
    "activate": _set(ACCOUNTS, operational_status="active"),
}
UNDONE_BY = {"pause": "resume", "disable": "enable", "suspend": "activate"}
