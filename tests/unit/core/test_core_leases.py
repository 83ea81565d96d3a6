"""Leases: credits and day use taken at once for as many leads as there is room for, or a refusal with its evidence."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import keys
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.errors import ServiceFault, TableThrottled, TransactionConflict
from paceline.leases import MAX_TRIES, Refusal, take_lease
from paceline.models import Account, Hold, Lead, Route
from paceline.status import Cause
from paceline.table import Row, Table, Update
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_campaign, a_world, an_account, buy_credits, leads_of
from tests.fakes.tables import meddled

TODAY = date(2026, 9, 2)
MIDNIGHT = datetime.fromisoformat("2026-09-03T04:00:00Z")  # of the route's zone, New York
ROUTE_DAY, ACCOUNT_DAY = keys.route_day("shared", TODAY), keys.account_day("acme", TODAY)


def lease(
    world: World,
    leads: int | list[Lead] = 40,
    *,
    route: Route | None = None,
    batch_id: str = "00001",
    round_no: int = 1,
    now: datetime = NOON,
    table: Table | None = None,
) -> Row | Refusal:
    wanted = leads_of(leads) if isinstance(leads, int) else leads
    account = world.account()
    return take_lease(
        table or world.table, a_campaign(), route or Route(name="shared"), account, batch_id, round_no, wanted, now
    )


def granted(answer: Row | Refusal) -> int:
    return 0 if isinstance(answer, Refusal) else answer["parts"]


def hold_of(answer: Row | Refusal) -> Hold:
    assert isinstance(answer, Refusal)
    return answer.hold


def with_account(world: World, **changes: Any) -> World:
    world.has(an_account(**changes))
    return world


def test_a_lease_takes_credits_and_day_use_for_all_its_leads(world: World) -> None:
    answer = lease(world, leads_of([1, 2, 3]))

    assert granted(answer) == 6
    assert answer["lead_nos"] == [1, 2, 3]  # type: ignore[index]
    assert (world.account().available, world.account().reserved) == (994, 6)
    assert world.used(ROUTE_DAY) == 6
    assert world.credits_are_conserved()


def test_a_lease_writes_the_shared_rows_once_whatever_its_size(world: World) -> None:
    world.calls.clear()

    lease(world, 40)

    writes = [access for call in world.calls for access in call.keys if access.action in ("Put", "Update")]
    assert len(writes) == 3  # the lease, the account, the route's day


def test_a_lease_of_a_route_without_a_cap_counts_its_day_all_the_same(world: World) -> None:
    lease(world, 5)
    lease(world, 5, batch_id="00002")

    assert world.used(ROUTE_DAY) == 10


# -- credits -------------------------------------------------------------------------------------------------------


def test_thirteen_credits_of_forty_grant_thirteen_and_the_rest_is_refused_for_credits(empty_world: World) -> None:
    world = with_account(empty_world, available=13)

    first = lease(world, 40)
    second = lease(world, leads_of(40)[13:], round_no=2)

    assert granted(first) == 13
    assert first["lead_nos"] == list(range(1, 14))  # type: ignore[index]
    assert (world.account().available, world.account().reserved) == (0, 13)
    assert world.used(ROUTE_DAY) == 13
    assert hold_of(second) == Hold(cause=Cause.CREDITS, since=NOON, used=27, limit=0)


def test_leads_are_granted_in_order_and_whole(empty_world: World) -> None:
    world = with_account(empty_world, available=6)

    answer = lease(world, leads_of([3, 2, 3, 1]))

    assert granted(answer) == 5  # the third does not fit, and the fourth does not overtake it
    assert answer["lead_nos"] == [1, 2]  # type: ignore[index]
    assert world.account().available == 1


def test_a_message_larger_than_the_credits_left_is_refused_with_what_is_left(empty_world: World) -> None:
    world = with_account(empty_world, available=2)

    answer = lease(world, leads_of([3]))

    assert hold_of(answer) == Hold(cause=Cause.CREDITS, since=NOON, used=3, limit=2)
    assert world.account().available == 2


@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"operational_status": "suspended"}, id="suspended"),
        pytest.param({"compliance_status": "pending"}, id="not yet approved"),
        pytest.param({"compliance_status": "refused"}, id="refused"),
    ],
)
def test_an_account_that_is_not_active_is_refused_as_such_not_for_credits(
    empty_world: World, status: dict[str, str]
) -> None:
    world = with_account(empty_world, **status)

    answer = lease(world)

    assert hold_of(answer) == Hold(cause=Cause.ACCOUNT_NOT_ACTIVE, since=NOON)
    assert world.account().reserved == 0


# -- day caps ------------------------------------------------------------------------------------------------------


def test_a_day_cap_is_reached_to_the_last_part_and_never_a_part_more(world: World) -> None:
    route = Route(name="shared", parts_per_day=100)

    answers = [lease(world, 40, route=route, batch_id=f"{n:05}") for n in range(4)]

    assert [granted(answer) for answer in answers] == [40, 40, 20, 0]
    assert world.used(ROUTE_DAY) == 100
    assert world.account().reserved == 100


def test_a_reached_day_cap_says_how_much_of_what_and_until_midnight_of_its_zone(world: World) -> None:
    route = Route(name="shared", parts_per_day=40)
    lease(world, 40, route=route)

    answer = lease(world, 40, route=route, batch_id="00002")

    assert hold_of(answer) == Hold(cause=Cause.ROUTE_DAY_CAP, since=NOON, until=MIDNIGHT, used=40, limit=40)


def test_the_next_day_has_its_own_use(world: World) -> None:
    route = Route(name="shared", parts_per_day=40)
    lease(world, 40, route=route)

    answer = lease(world, 40, route=route, batch_id="00002", now=MIDNIGHT)

    assert granted(answer) == 40
    assert answer["day"] == "2026-09-03"  # type: ignore[index]


def test_a_lease_is_good_until_the_end_of_its_day_in_the_routes_zone(world: World) -> None:
    route = Route(name="shared", time_zone="America/Los_Angeles")

    answer = lease(world, 1, route=route)

    assert answer["valid_until"] == "2026-09-03T07:00:00.000000Z"  # type: ignore[index]


def test_a_message_larger_than_the_whole_day_cap_is_refused(world: World) -> None:
    route = Route(name="shared", parts_per_day=2)

    answer = lease(world, leads_of([3]), route=route)

    assert hold_of(answer) == Hold(cause=Cause.ROUTE_DAY_CAP, since=NOON, until=MIDNIGHT, used=0, limit=2)


def test_a_batch_larger_than_the_whole_day_cap_gets_the_cap(world: World) -> None:
    answer = lease(world, 40, route=Route(name="shared", parts_per_day=7))

    assert granted(answer) == 7


def test_a_raised_day_cap_grants_the_difference(world: World) -> None:
    lease(world, 40, route=Route(name="shared", parts_per_day=10))

    answer = lease(world, 40, route=Route(name="shared", parts_per_day=25), round_no=2)

    assert granted(answer) == 15


def test_a_lowered_day_cap_grants_nothing_more(world: World) -> None:
    lease(world, 40)

    answer = lease(world, 40, route=Route(name="shared", parts_per_day=30), round_no=2)

    assert hold_of(answer) == Hold(cause=Cause.ROUTE_DAY_CAP, since=NOON, until=MIDNIGHT, used=40, limit=30)


def test_an_accounts_own_day_cap_counts_over_all_its_routes(empty_world: World) -> None:
    world = with_account(empty_world, parts_per_day=50)

    answers = [
        lease(world, 40, route=Route(name="shared")),
        lease(world, 40, route=Route(name="verizon"), batch_id="00002"),
        lease(world, 40, route=Route(name="verizon"), batch_id="00003"),
    ]

    assert [granted(answer) for answer in answers] == [40, 10, 0]
    assert hold_of(answers[2]) == Hold(cause=Cause.ACCOUNT_DAY_CAP, since=NOON, until=MIDNIGHT, used=50, limit=50)
    assert world.used(ACCOUNT_DAY) == 50


def test_of_several_causes_the_one_that_leaves_least_is_named(empty_world: World) -> None:
    world = with_account(empty_world, available=5, parts_per_day=30)
    route = Route(name="shared", parts_per_day=20)

    first = lease(world, 40, route=route)
    second = lease(world, 40, route=route, round_no=2)

    assert granted(first) == 5
    assert hold_of(second).cause is Cause.CREDITS


@settings(max_examples=40)
@given(
    sizes=st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=12), min_size=1, max_size=12),
    cap=st.integers(4, 60),
    credits=st.integers(4, 60),
)
def test_whatever_is_asked_cap_and_credits_are_used_as_far_as_they_go_and_never_over(
    sizes: list[list[int]], cap: int, credits: int
) -> None:
    with a_world() as world:
        world.has(an_account(available=credits))
        route = Route(name="shared", parts_per_day=cap)

        answers = [lease(world, leads_of(parts), route=route, batch_id=f"{n:05}") for n, parts in enumerate(sizes)]

        taken = sum(map(granted, answers))
        assert taken == world.used(ROUTE_DAY) == world.account().reserved
        assert taken <= min(cap, credits)
        assert world.credits_are_conserved()
        if any(map(lambda parts, answer: granted(answer) < sum(parts), sizes, answers)):
            assert taken > min(cap, credits) - 4  # less than the largest message was left


# -- the same round again, races, conflicts ------------------------------------------------------------------------


def test_the_same_round_again_returns_the_lease_that_it_has(world: World) -> None:
    first = lease(world, 40)

    again = lease(world, 40)

    assert again == first
    assert world.account().reserved == 40
    assert world.used(ROUTE_DAY) == 40


def test_the_same_round_again_returns_its_lease_even_when_nothing_is_left(empty_world: World) -> None:
    world = with_account(empty_world, available=40)
    first = lease(world, 40)

    assert lease(world, 40) == first


def test_what_another_batch_took_in_between_is_not_granted_twice(empty_world: World) -> None:
    world = with_account(empty_world, available=50)
    other: list[Row | Refusal] = []

    table = meddled(world.table, "transact", lambda: other.append(lease(world, 30, batch_id="00002")))
    answer = lease(world, 40, table=table)

    assert granted(other[0]) == 30
    assert granted(answer) == 20
    assert world.account().available == 0


def test_room_that_changes_under_every_try_is_a_conflict_never_a_cap(empty_world: World) -> None:
    world = with_account(empty_world, available=39)
    take_one = Update(keys.account("acme"), "ADD #available :n", {"n": -1})

    table = meddled(world.table, "transact", lambda: world.table.update(take_one), times=MAX_TRIES)

    with pytest.raises(TransactionConflict):
        lease(world, 40, table=table)
    assert world.account().reserved == 0


def test_two_leases_at_once_conflict_and_the_second_names_no_cap() -> None:
    with a_world(Latency(prepare=lambda: 0.010, commit=lambda: 0.010)) as world:
        world.has(an_account())
        route = Route(name="shared", parts_per_day=1000)

        first, second = world.together(
            lambda: lease(world, 40, route=route),
            lambda: lease(world, 40, route=route, batch_id="00002"),
            apart_seconds=0.005,
        )

        assert granted(first) == 40
        assert isinstance(second, TransactionConflict)
        assert world.account().reserved == 40


@pytest.mark.parametrize("apart_seconds", [0.0, 0.003, 0.012])
def test_of_many_leases_at_once_none_takes_what_is_not_there_or_leaves_half_of_itself(apart_seconds: float) -> None:
    def until_granted(batch_id: str) -> Row | Refusal:
        for wait in range(1, 200):  # as the workflow retries, each at its own pace
            try:
                return lease(world, 3, batch_id=batch_id)
            except TransactionConflict:
                account = world.account()
                assert account.available >= 0
                assert account.available + account.reserved == 10
                world.scheduler.sleep(0.007 * wait * (1 + int(batch_id) / 10))
        raise AssertionError("it never came through")

    with a_world(Latency(prepare=lambda: 0.010, commit=lambda: 0.010)) as world:
        world.has(an_account(available=10))

        names = [f"{number:05}" for number in range(1, 9)]
        answers = world.together(*(partial(until_granted, name) for name in names), apart_seconds=apart_seconds)

        refused = [hold_of(answer).cause for answer in answers if isinstance(answer, Refusal)]
        assert sorted(granted(answer) for answer in answers if not isinstance(answer, Refusal)) == [1, 3, 3, 3]
        assert refused == [Cause.CREDITS] * 4
        assert (world.account().available, world.account().reserved) == (0, 10)


# -- cancellation reasons, by position -----------------------------------------------------------------------------

NONE = {"Code": "None"}
CONFLICT = {"Code": "TransactionConflict"}


def failed(**old: int | str) -> dict[str, Any]:
    item = {name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in old.items()}
    return {"Code": "ConditionalCheckFailed", "Item": item}


def account_left(available: int) -> dict[str, Any]:
    return failed(available=available, compliance_status="approved", operational_status="active")


class CancellingClient:
    """A DynamoDB client whose transactions are cancelled for these reasons. None: without a list."""

    def __init__(self, *answers: list[dict[str, Any]] | None, code: str = "TransactionCanceledException") -> None:
        self._answers, self._code = list(answers), code
        self.asked: list[list[dict[str, Any]]] = []

    def transact_write_items(self, *, TransactItems: list[dict[str, Any]]) -> None:
        self.asked.append(TransactItems)
        if not self._answers:
            return
        reasons = self._answers.pop(0)
        response: dict[str, Any] = {"Error": {"Code": self._code, "Message": "Transaction cancelled"}}
        if reasons is not None:
            response["CancellationReasons"] = reasons
        raise ClientError(response, "TransactWriteItems")  # type: ignore[arg-type]


def cancelled(client: CancellingClient, account: Account | None = None) -> Row | Refusal:
    """Ask for a lease of 40 of a client; its transaction is lease, account, route day (and account day)."""
    route = Route(name="shared", parts_per_day=100)
    table = DynamoDBTable(client, "paceline")
    return take_lease(table, a_campaign(), route, account or an_account(), "00001", 1, leads_of(40), NOON)


def test_the_position_of_a_failed_condition_names_its_cause() -> None:
    client = CancellingClient([NONE, NONE, failed(used=100)])

    answer = cancelled(client)

    assert hold_of(answer) == Hold(cause=Cause.ROUTE_DAY_CAP, since=NOON, until=MIDNIGHT, used=100, limit=100)


def test_a_conflict_beside_a_failed_condition_does_not_hide_it() -> None:
    client = CancellingClient([NONE, CONFLICT, failed(used=100)])

    answer = cancelled(client)

    assert hold_of(answer).cause is Cause.ROUTE_DAY_CAP


def test_a_smaller_ask_follows_the_room_that_the_refused_row_shows() -> None:
    client = CancellingClient([NONE, account_left(13), NONE])

    answer = cancelled(client)

    assert granted(answer) == 13
    assert len(client.asked) == 2


def test_the_accounts_day_is_read_at_its_own_position() -> None:
    client = CancellingClient([NONE, NONE, NONE, failed(used=60)])

    answer = cancelled(client, an_account(parts_per_day=60))

    assert hold_of(answer) == Hold(cause=Cause.ACCOUNT_DAY_CAP, since=NOON, until=MIDNIGHT, used=60, limit=60)


@pytest.mark.parametrize(
    "reasons",
    [
        pytest.param([NONE, CONFLICT, NONE], id="one conflict"),
        pytest.param([CONFLICT, CONFLICT, CONFLICT], id="only conflicts"),
    ],
)
def test_conflicts_alone_are_a_conflict_and_never_a_cap(reasons: list[dict[str, Any]]) -> None:
    client = CancellingClient(reasons)

    with pytest.raises(TransactionConflict):
        cancelled(client)
    assert len(client.asked) == 1  # the retry is the workflow's


@pytest.mark.parametrize(
    "reasons",
    [
        pytest.param(None, id="no list"),
        pytest.param([], id="an empty list"),
        pytest.param([NONE, failed(used=100)], id="a list too short to tell which"),
        pytest.param([NONE, {"Code": "ThrottlingError"}, NONE], id="throttled"),
        pytest.param([NONE, {"Code": "ProvisionedThroughputExceeded"}, CONFLICT], id="throttled beside a conflict"),
    ],
)
def test_what_proves_nothing_about_a_cap_is_throttling(reasons: list[dict[str, Any]] | None) -> None:
    with pytest.raises(TableThrottled):
        cancelled(CancellingClient(reasons))


@pytest.mark.parametrize("beside", [NONE, CONFLICT], ids=["alone", "beside a conflict"])
def test_a_fault_of_ours_is_the_error_itself(beside: dict[str, Any]) -> None:
    client = CancellingClient([beside, {"Code": "ValidationError"}, NONE])

    with pytest.raises(ServiceFault) as raised:
        cancelled(client)
    assert raised.value.evidence["code"] == "TransactionCanceledException"


def test_a_throttled_transaction_is_throttling() -> None:
    with pytest.raises(TableThrottled):
        cancelled(CancellingClient(None, code="ThrottlingException"))


def test_bought_credits_are_there_for_the_next_round(empty_world: World) -> None:
    world = with_account(empty_world, available=13)
    lease(world, 40)

    buy_credits(world.table, "acme", 27)
    answer = lease(world, leads_of(40)[13:], round_no=2, now=NOON + timedelta(minutes=1))

    assert granted(answer) == 27
    assert world.credits_are_conserved()
