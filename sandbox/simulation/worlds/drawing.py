"""Draws one world by its seed. The same seed and profile draw the same, whatever is left out of it later."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from paceline.models import Charging, SendingWindow
from sandbox.carrier import Script
from sandbox.simulation.worlds.acting import draw_acts
from sandbox.simulation.worlds.oddities import draw_oddity
from sandbox.simulation.worlds.plans import (
    Person,
    PlannedAccount,
    PlannedCampaign,
    PlannedRoute,
    Spell,
    Storm,
    WorldPlan,
)
from sandbox.simulation.worlds.profiles import MIXED, PROFILES, Trouble
from sandbox.testing.leads import AREA_CODES

# Of the worlds with faults so many have most of them in one function.
FOCUSED = 0.5
FUNCTIONS = (
    "send",
    "close",
    "admit",
    "hold",
    "count_open",
    "count_open",
    "reconcile",
    "report",
    "plan",
    "callbacks",
    "api",
)
# A word that is in every text and every name: no history and no log line may have it.
PRIVATE = "Zweiback"
TEXTS = (
    f"Hi {{{{first_name|there}}}}, your {PRIVATE} quote is ready. Reply STOP to opt out.",
    f"Hi {{{{first_name|there}}}}, your {PRIVATE} quote is ready: " + "call us for the details of your plan. " * 4,
    f"Hi {{{{first_name|there}}}}, dein {PRIVATE}-Angebot ist fertig ☂. " + "STOP beendet. " * 3,
)
CARRIERS = ("", "", "Verizon", "T-Mobile")
ROUTE_ZONES = ("America/New_York", "America/New_York", "America/Los_Angeles", "America/Chicago")
NIGHTS = (
    # Just before the clocks change, where the recipients are.
    datetime(2026, 11, 1, 3, 30, tzinfo=UTC),
    datetime(2026, 11, 1, 5, 50, tzinfo=UTC),
    datetime(2027, 3, 14, 4, 0, tzinfo=UTC),
    datetime(2027, 3, 14, 6, 45, tzinfo=UTC),
    # Just before midnight in New York, in Chicago, in Los Angeles.
    datetime(2026, 9, 3, 3, 57, tzinfo=UTC),
    datetime(2026, 9, 3, 4, 58, tzinfo=UTC),
    datetime(2026, 9, 3, 6, 59, tzinfo=UTC),
)


def draw_world(seed: int, profile: str = MIXED) -> WorldPlan:
    """Return the world of a seed."""
    rng = random.Random(f"{seed}:{profile}:world")
    if profile == MIXED:
        names = list(PROFILES)
        profile = rng.choices(names, [PROFILES[name].weight for name in names])[0]
    return _Drawing(seed, profile, PROFILES[profile], rng).world()


@dataclass
class _Drawing:
    seed: int
    profile: str
    trouble: Trouble
    rng: random.Random
    opening: float = 0.0  # seconds from the start until the usual window opens
    people: tuple[Person, ...] = ()
    accounts: tuple[PlannedAccount, ...] = ()
    routes: tuple[PlannedRoute, ...] = ()
    campaigns: tuple[PlannedCampaign, ...] = field(default=())

    def world(self) -> WorldPlan:
        rng = self.rng
        start = self._start()
        self.opening = _seconds_to_morning(start)
        self.people = tuple(self._person(number) for number in range(rng.randint(3, 14)))
        self.routes = self._routes()
        self.accounts = tuple(self._account(name) for name in ("acme", "birch")[: rng.choice((1, 1, 2))])
        self.campaigns = tuple(self._campaign(number) for number in range(rng.choice((1, 1, 2, 2, 3))))
        self.accounts = tuple(self._with_credits(account) for account in self.accounts)
        acts = draw_acts(rng, self) if self.trouble.acts else ()
        return WorldPlan(
            self.seed,
            self.profile,
            start,
            timedelta(hours=rng.choice((1, 6, 20, 30))),
            self.people,
            self.accounts,
            self.routes,
            self.campaigns,
            acts,
            tuple(self._spell(number) for number in range(rng.randint(0, 3))) if self.trouble.spells else (),
            self._storm(),
        )

    @property
    def seconds(self) -> float:
        """About how long the sending takes, where nothing holds it."""
        leads = sum(len(campaign.leads) for campaign in self.campaigns)
        return 10 + 60 * leads / min(route.parts_per_minute for route in self.routes)

    def moment(self) -> float:
        """A moment at which something may happen: mostly while messages are sent, which may begin in the morning."""
        if self.rng.random() < 0.2:
            return self.rng.uniform(0, 6 * 3600)
        return self.opening + self.rng.uniform(0, self.seconds * 1.5)

    def _start(self) -> datetime:
        if self.rng.random() < 0.35:
            return self.rng.choice(NIGHTS)
        return datetime(2026, 9, 2, 14, tzinfo=UTC) + timedelta(minutes=self.rng.randint(0, 7 * 24 * 60))

    def _person(self, number: int) -> Person:
        zone = self.rng.choice(list(AREA_CODES) if self.rng.random() < 0.3 else ["America/New_York"])
        telephone = f"+1{AREA_CODES[zone].split()[0]}55501{number:02d}"
        oddity, script = "", Script()
        if self.rng.random() < self.trouble.oddities:
            oddity, script = draw_oddity(self.rng)
        return Person(telephone, zone, self.rng.choice(CARRIERS), script, oddity)

    def _routes(self) -> tuple[PlannedRoute, ...]:
        names = [("shared", ()), ("verizon", ("Verizon",)), ("tmobile", ("T-Mobile",))][: self.rng.choice((1, 2, 2, 3))]
        return tuple(self._route(number, name, carriers) for number, (name, carriers) in enumerate(names))

    def _route(self, number: int, name: str, carriers: tuple[str, ...]) -> PlannedRoute:
        rng = self.rng
        pace = rng.choice((3, 6, 20, 60, 240, 3000))
        a_day = rng.choice((None, None, None, rng.randint(1, 12)))
        at_once = rng.choice((None, None, None, 1, 3))
        provider = rng.choice(("twilio", "twilio", "twilio", "end_user_messaging"))
        zone = rng.choice(ROUTE_ZONES)
        return PlannedRoute(name, f"+1202555010{number}", carriers, pace, a_day, at_once, zone, provider)

    def _account(self, name: str) -> PlannedAccount:
        rng = self.rng
        return PlannedAccount(
            name,
            0,
            rng.choice((None, None, None, rng.randint(1, 12))),
            SendingWindow(opens=time(9), closes=time(20)) if rng.random() < 0.15 else None,
            rng.choice((Charging(), Charging(), Charging(charged="delivered"), Charging(filtered=False))),
            rng.choice(("never_resend",) * 4 + ("resend_once",)),
        )

    def _with_credits(self, account: PlannedAccount) -> PlannedAccount:
        leads = sum(len(one.leads) for one in self.campaigns if one.account_id == account.account_id)
        credits = round(leads * self.rng.choice((0.4, 1, 3, 3)))
        return PlannedAccount(**{**vars(account), "credits": credits})

    def _campaign(self, number: int) -> PlannedCampaign:
        rng = self.rng
        people = rng.sample(range(len(self.people)), rng.randint(1, len(self.people)))
        if rng.random() < 0.2:
            people.append(people[0])  # a row of the file that is there twice
        start_in = rng.uniform(0, 1800) if rng.random() < 0.15 else None
        account = rng.choice(self.accounts)
        return PlannedCampaign(
            f"c{number}",
            account.account_id,
            0.0 if number == 0 else rng.uniform(0, 120),
            rng.choice(TEXTS[:1] * 3 + TEXTS),
            tuple((f"l{number}.{row}", person) for row, person in enumerate(people)),
            self._window(account),
            rng.choice((1, 2, 6)),
            rng.choice((None, None, 1, 2)),
            start_in,
            rng.uniform(600, 7200) + (start_in or 0) if rng.random() < 0.1 else None,
            rng.choice((1, 1, 1, 3)),
        )

    def _window(self, account: PlannedAccount) -> SendingWindow:
        """The usual one, or a narrow one, or one over midnight; it shares an hour with the account's own."""
        rng = self.rng
        if rng.random() < 0.7:
            return SendingWindow()
        if account.sending_window is not None:
            opens = rng.randint(9, 18)
            return SendingWindow(opens=time(opens), closes=time(opens + 1))
        opens = rng.randrange(24)
        return SendingWindow(opens=time(opens), closes=time((opens + rng.choice((1, 3, 12))) % 24))

    def _spell(self, number: int) -> Spell:
        rng = self.rng
        share = rng.choice((0.1, 0.4, 1.0))
        kind = rng.choice(("throttled", "failing", "silent"))
        if kind == "silent":
            share = min(share, 0.4)
        return Spell(f"w{number}", self.moment(), rng.uniform(5, 300), **{kind: share})

    def _storm(self) -> Storm:
        rng, trouble = self.rng, self.trouble
        share = rng.choice(trouble.shares)
        kinds = tuple(kind.value for kind in trouble.kinds)
        storm = Storm(share, kinds)
        if rng.random() < trouble.bursts:
            service = rng.choice(("dynamodb", "dynamodb", "s3", "invoke", "states", "POST"))
            storm = Storm(share, kinds, service, self.moment(), rng.uniform(5, 90), rng.choice((0.2, 0.6)))
        if kinds and rng.random() < FOCUSED:
            storm = replace(storm, focus=rng.choice(FUNCTIONS), focus_share=0.08, focus_kind=rng.choice(kinds))
        return storm


def _seconds_to_morning(start: datetime) -> float:
    """Return how long it is until the usual window opens in New York; 0 where it is open."""
    here = start.astimezone(ZoneInfo("America/New_York"))
    if time(8) <= here.time() < time(21):
        return 0.0
    return ((8 - here.hour) % 24 * 3600 - here.minute * 60 - here.second) % 86_400
