"""Tells a failing world as a story, and the command that plays it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import timedelta

from paceline.models import SendingWindow
from sandbox.simulation.worlds.drawing import draw_world
from sandbox.simulation.worlds.plans import Act, PlannedCampaign, WorldPlan
from sandbox.simulation.worlds.trying import Verdict


def command_of(verdict: Verdict) -> str:
    """Return the command that replays a trial."""
    trial = verdict.trial
    command = f"paceline simulate --seeds {trial.seed}..{trial.seed} --profile {trial.profile}"
    return command if trial.kept is None else f"{command} --keep {shlex.quote(','.join(sorted(trial.kept)))}"


def story_of(verdict: Verdict) -> list[str]:
    """Return what happens in a trial's world, a line each, and what does not hold at its end; no number, no text."""
    kept = verdict.trial.kept
    plan = draw_world(verdict.trial.seed, verdict.trial.profile).keeping(lambda tag: kept is None or tag in kept)
    lines = [f"{plan.start:%Y-%m-%d %H:%M} UTC, a world of profile {plan.profile}", *_setting(plan)]
    lines += [f"{_clock(after)} {what}" for after, what in sorted(_happens(plan))]
    lines += [f"fault: {one}" for one in verdict.met]
    return lines + [f"{one.invariant}: {one.what}" for one in verdict.broken]


def _setting(plan: WorldPlan) -> Iterator[str]:
    for account in plan.accounts:
        if account.account_id in {one.account_id for one in plan.campaigns}:
            rules = [f"{account.credits} credits", f"charged: {account.charging.charged}", f"{account.in_doubt}"]
            rules += [f"{account.parts_per_day} parts a day"] if account.parts_per_day else []
            rules += [f"window {_window(account.sending_window)}"] if account.sending_window else []
            yield f"account {account.account_id}: {', '.join(rules)}"
    for route in plan.routes:
        rules = [f"{route.parts_per_minute} a minute", route.provider, f"days of {route.time_zone}"]
        rules += [f"{route.parts_per_day} a day"] if route.parts_per_day else []
        rules += [f"{route.concurrency} at once"] if route.concurrency else []
        yield f"route {route.name}: {', '.join(rules)}"
    for number in sorted({person for one in plan.campaigns for _, person in one.leads}):
        if oddity := plan.people[number].oddity:
            yield f"person {number}: {oddity}"


def _happens(plan: WorldPlan) -> Iterator[tuple[float, str]]:
    for campaign in plan.campaigns:
        yield campaign.after, _campaign(campaign)
    for act in plan.acts:
        yield act.after, _act(act)
    for spell in plan.spells:
        shares = {name: getattr(spell, name) for name in ("throttled", "failing", "silent") if getattr(spell, name)}
        yield spell.after, f"the provider, for {spell.seconds:.0f} s: {shares}"
    yield plan.heals_after.total_seconds(), "nothing fails any more, operators clear what holds"


def _campaign(campaign: PlannedCampaign) -> str:
    rules = [f"window {_window(campaign.sending_window)}", f"receipts until {campaign.receipt_deadline_hours} h after"]
    if campaign.max_messages_per_recipient_24h:
        rules.append(f"at most {campaign.max_messages_per_recipient_24h} to a person in 24 h")
    rules += [f"starts {campaign.start_in:.0f} s later"] if campaign.start_in else []
    rules += [f"sends for {campaign.send_by_in:.0f} s at most"] if campaign.send_by_in else []
    people = ", ".join(str(person) for _, person in campaign.leads)
    return f"{campaign.account_id} starts {campaign.tag} for persons {people}: {'; '.join(rules)}"


def _act(act: Act) -> str:
    value = "" if act.value is None else f" {act.value}"
    return f"{act.word} {act.target}{value}"


def _window(window: SendingWindow) -> str:
    return f"{window.opens:%H:%M}-{window.closes:%H:%M}"


def _clock(seconds: float) -> str:
    return f"+{timedelta(seconds=round(seconds))!s:>8}"
