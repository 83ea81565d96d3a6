"""Turns: campaigns share a route by weight, a small one is soon done, and nobody's queue delays another campaign."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from paceline import keys
from paceline.departures import round_ref
from paceline.errors import TransactionConflict
from paceline.moments import from_us, to_us
from paceline.pace_rows import to_pace
from paceline.pacing import HORIZON_US, MAX_TURN_US, Request
from paceline.slots import take_slots
from paceline.table import Table, Update
from paceline.turns import MAX_FORMS, Turn, await_turn, take_turn
from tests.builders.core import NOON, World
from tests.builders.pace import Road
from tests.fakes.tables import meddled

FAR = to_us(NOON + timedelta(days=30))


@dataclass
class Crowd:
    """Campaigns with batches of 40 that ask, wait and send as the workflow makes them; every message is on time."""

    world: World
    cap: int = 240
    waiting: list[tuple[datetime, int, str, int, int, Turn | None]] = field(default_factory=list)
    taken: list[tuple[int, str, int]] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.road = Road(self.world)

    def comes(self, campaign_id: str, batches: int, at: datetime = NOON, *, parts: int = 40, weight: int = 1) -> None:
        for _ in range(batches):
            self.number += 1
            self.waiting.append((at, self.number, campaign_id, parts, weight, None))

    def live(self, until: datetime) -> None:
        """Let time pass: whoever's moment comes asks; whoever has its slots ends after them."""
        while self.waiting and min(self.waiting)[0] < until:
            now, number, campaign_id, parts, weight, turn = entry = min(self.waiting, key=lambda one: one[:2])
            self.waiting.remove(entry)
            self.road.write_what_left(to_us(now), messages=False)
            answer = self.ask(campaign_id, number, parts, weight, turn, now)
            if isinstance(answer, Turn):
                assert answer.at > now
                self.waiting.append((answer.at, number, campaign_id, parts, weight, answer))
            else:
                self.road.keep(campaign_id, str(number), answer, (1,) * parts)
                self.taken += [(slot, campaign_id, 1) for slot in answer]

    def ask(
        self, campaign_id: str, number: int, parts: int, weight: int, turn: Turn | None, now: datetime
    ) -> Turn | list[int]:
        request = Request(round_ref(campaign_id, str(number), 1), (1,) * parts, self.cap, FAR, weight=weight)
        if turn is None:
            wait = take_turn(self.world.table, "shared", request, now)
        else:
            wait = await_turn(self.world.table, "shared", request, turn.turn, now)
        answer = wait or take_slots(self.world.table, "shared", request, now)
        return answer if isinstance(answer, Turn) else answer.moments

    def parts_by(self, moment: datetime) -> Counter[str]:
        found: Counter[str] = Counter()
        for slot, campaign_id, parts in self.taken:
            if slot < to_us(moment):
                found[campaign_id] += parts
        return found


@pytest.fixture
def crowd(world: World) -> Crowd:
    return Crowd(world)


def test_one_campaign_has_the_route_to_itself(crowd: Crowd) -> None:
    crowd.comes("a", 60)

    crowd.live(NOON + timedelta(minutes=5))

    assert crowd.parts_by(NOON + timedelta(minutes=5))["a"] >= 0.97 * 5 * 240


def test_campaigns_of_equal_weight_share_equally(crowd: Crowd) -> None:
    for campaign_id in ("a", "b", "c"):
        crowd.comes(campaign_id, 60)

    crowd.live(NOON + timedelta(minutes=12))

    shares = crowd.parts_by(NOON + timedelta(minutes=11))
    assert min(shares.values()) >= 0.9 * max(shares.values())
    assert shares.total() >= 0.96 * 11 * 240


def test_the_number_of_batches_that_ask_does_not_count(crowd: Crowd) -> None:
    crowd.comes("many", 100)
    crowd.comes("few", 30, NOON + timedelta(seconds=20))

    crowd.live(NOON + timedelta(minutes=7))

    shares = crowd.parts_by(NOON + timedelta(minutes=6)) - crowd.parts_by(NOON + timedelta(minutes=1))
    assert shares["few"] == pytest.approx(shares["many"], rel=0.1)


def test_a_campaign_of_twice_the_weight_has_twice_the_share(crowd: Crowd) -> None:
    crowd.comes("heavy", 80, weight=2)
    crowd.comes("light", 80)

    crowd.live(NOON + timedelta(minutes=11))

    shares = crowd.parts_by(NOON + timedelta(minutes=10))
    assert shares["heavy"] == pytest.approx(2 * shares["light"], rel=0.12)


def test_a_campaign_of_ten_leads_is_done_soon_behind_one_of_many(crowd: Crowd) -> None:
    crowd.comes("large", 100)
    arrival = NOON + timedelta(minutes=2)
    crowd.live(arrival)
    crowd.comes("small", 1, arrival, parts=10)

    crowd.live(arrival + timedelta(minutes=2))

    slots = [slot for slot, campaign_id, _ in crowd.taken if campaign_id == "small"]
    assert len(slots) == 10
    assert slots[-1] <= to_us(arrival) + 45_000_000


def test_when_a_campaign_ends_the_others_have_its_share(crowd: Crowd) -> None:
    crowd.comes("ends", 6)
    crowd.comes("stays", 60)

    crowd.live(NOON + timedelta(minutes=8))

    later = crowd.parts_by(NOON + timedelta(minutes=7)) - crowd.parts_by(NOON + timedelta(minutes=4))
    assert later["stays"] >= 0.95 * 3 * 240


def test_a_campaign_that_was_idle_has_no_credit_for_it(crowd: Crowd) -> None:
    crowd.comes("early", 100)
    back = NOON + timedelta(minutes=5)
    crowd.comes("late", 2)
    crowd.comes("late", 40, back)

    crowd.live(back + timedelta(minutes=5))

    shares = crowd.parts_by(back + timedelta(minutes=4)) - crowd.parts_by(back + timedelta(minutes=1))
    assert shares["late"] == pytest.approx(shares["early"], rel=0.15)


# -- one ask -------------------------------------------------------------------------------------------------------


def ask(world: World, campaign_id: str = "a", parts: int = 40, table: Table | None = None) -> Turn | None:
    return take_turn(table or world.table, "shared", Request(f"{campaign_id}#b#1", (1,) * parts, 240), NOON)


def test_turns_are_spaced_by_what_a_batch_takes_and_the_campaigns_share(world: World) -> None:
    turns = [ask(world) for _ in range(4)]
    assert turns[0] is None
    a_batch = timedelta(seconds=10)
    assert [turn.turn - NOON for turn in turns if turn] == [a_batch, 2 * a_batch, 3 * a_batch]

    ask(world, "b")
    another = ask(world)

    assert another is not None
    assert another.turn - NOON == 4 * a_batch
    assert to_pace(world.pace()).turns["a"] == to_us(NOON) + to_us(from_us(0) + 4 * a_batch) + 16_000_000


def test_asks_at_the_same_moment_get_different_turns(world: World) -> None:
    turns: list[Turn | None] = []
    table = meddled(world.table, "update", lambda: turns.append(ask(world)), times=2)

    turns.append(ask(world, table=table))

    moments = [turn.turn if turn else NOON for turn in turns]
    assert len(set(moments)) == len(moments) >= 2


def test_a_turn_is_never_further_than_what_a_raised_cap_may_wait(world: World) -> None:
    for _ in range(40):
        turn = ask(world)

    assert turn is not None
    assert to_us(NOON) + MAX_TURN_US // 2 <= to_us(turn.at) <= to_us(NOON) + MAX_TURN_US
    assert to_us(turn.turn) > to_us(turn.at) + HORIZON_US


def test_who_asks_while_the_route_is_idle_goes_at_once_whatever_its_turn(world: World) -> None:
    request = Request("a#b#1", (1,) * 40, 240)

    assert await_turn(world.table, "shared", request, NOON + timedelta(minutes=5), NOON) is None


def test_a_row_that_changes_under_every_try_is_a_conflict(world: World) -> None:
    moment = to_us(NOON)

    def meddle() -> None:
        nonlocal moment
        row = world.pace()
        back = "turn#a" in row and row["turn#a"] > to_us(NOON)
        moment = to_us(NOON) - 1 if back else to_us(NOON) + 60_000_000
        names = {"turn": "turn#a"}
        world.table.update(Update(keys.route_pace("shared"), "SET #turn = :turn", {"turn": moment}, names=names))

    with pytest.raises(TransactionConflict):
        ask(world, table=meddled(world.table, "update", meddle, times=MAX_FORMS))
