"""What is in one random world, piece by piece, so that a failing one can be made smaller by leaving pieces out.

A piece has a tag: c0 a campaign, l0.3 a lead of it, p5 what is odd about a person, a2 something that somebody does,
w1 a spell of bad weather, and each fault the call that it meets (`storms`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from paceline.models import Charging, SendingWindow
from sandbox.carrier import Script


@dataclass(frozen=True)
class Person:
    """Somebody with a telephone. script: what the carrier does with messages to it, where there is an oddity."""

    number: str
    zone: str
    carrier: str
    script: Script
    oddity: str = ""


@dataclass(frozen=True)
class PlannedAccount:
    """A customer's account. Caps and credits count parts."""

    account_id: str
    credits: int
    parts_per_day: int | None = None
    sending_window: SendingWindow | None = None
    charging: Charging = field(default_factory=Charging)
    in_doubt: str = "never_resend"


@dataclass(frozen=True)
class PlannedRoute:
    name: str
    sender: str
    carriers: tuple[str, ...]
    parts_per_minute: int
    parts_per_day: int | None
    concurrency: int | None
    time_zone: str
    provider: str


@dataclass(frozen=True)
class PlannedCampaign:
    """A campaign. leads: indexes of people, one twice where the file has it twice. after: seconds from the start."""

    tag: str
    account_id: str
    after: float
    message: str
    leads: tuple[tuple[str, int], ...]  # (tag, index of the person)
    sending_window: SendingWindow
    receipt_deadline_hours: int
    max_messages_per_recipient_24h: int | None = None
    start_in: float | None = None
    send_by_in: float | None = None
    weight: int = 1


@dataclass(frozen=True)
class Act:
    """What somebody does at a moment: a word of `acting.ACTS`, to whom, and with which value."""

    tag: str
    after: float
    word: str
    target: str
    value: Any = None


@dataclass(frozen=True)
class Spell:
    """How the carrier behaves for a while: shares of calls answered 429, 503, and never."""

    tag: str
    after: float
    seconds: float
    throttled: float = 0.0
    failing: float = 0.0
    silent: float = 0.0


@dataclass(frozen=True)
class Storm:
    """Faults by chance: of all calls this share, of these kinds; in a burst more, at one service's calls.

    focus: a function of whose calls more meet one, all of one kind.
    """

    share: float = 0.0
    kinds: tuple[str, ...] = ()
    burst_service: str = ""
    burst_after: float = 0.0
    burst_seconds: float = 0.0
    burst_share: float = 0.0
    focus: str = ""
    focus_share: float = 0.0
    focus_kind: str = ""

    def bursts_at(self, seconds: float) -> bool:
        return 0 <= seconds - self.burst_after < self.burst_seconds


@dataclass(frozen=True)
class WorldPlan:
    """One world. heals_after: the moment from which nothing fails any more, and operators clear what is in the way."""

    seed: int
    profile: str
    start: datetime
    heals_after: timedelta
    people: tuple[Person, ...]
    accounts: tuple[PlannedAccount, ...]
    routes: tuple[PlannedRoute, ...]
    campaigns: tuple[PlannedCampaign, ...]
    acts: tuple[Act, ...] = ()
    spells: tuple[Spell, ...] = ()
    storm: Storm = field(default_factory=Storm)

    def tags(self) -> list[str]:
        """Return the tag of every piece that can be left out, the largest first."""
        leads = [tag for campaign in self.campaigns for tag, _ in campaign.leads]
        odd = [f"p{n}" for n, person in enumerate(self.people) if person.oddity]
        pieces = (self.campaigns, self.spells, self.acts)
        return [piece.tag for group in pieces for piece in group] + odd + leads

    def keeping(self, kept: Callable[[str], bool]) -> WorldPlan:
        """Return the world with only the pieces whose tag is kept."""
        people = [
            person if not person.oddity or kept(f"p{n}") else replace(person, script=Script(), oddity="")
            for n, person in enumerate(self.people)
        ]
        campaigns = [
            replace(campaign, leads=tuple(lead for lead in campaign.leads if kept(lead[0])))
            for campaign in self.campaigns
            if kept(campaign.tag)
        ]
        return replace(
            self,
            people=tuple(people),
            campaigns=tuple(campaign for campaign in campaigns if campaign.leads),
            acts=tuple(act for act in self.acts if kept(act.tag)),
            spells=tuple(spell for spell in self.spells if kept(spell.tag)),
        )
