"""Settling: what a final batch holds becomes consumed and released, once, and no credit is lost or made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import keys
from paceline.batches import batch_summaries, summarize
from paceline.errors import TransactionConflict
from paceline.models import Account, Charging
from paceline.moments import iso
from paceline.settlement import BATCHES_A_TRANSACTION, amounts, settle
from paceline.status import MessageStatus
from paceline.table import Reason, Row, TransactionRefused, Update
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_message, a_world, an_account
from tests.fakes.tables import Killed, WatchedTable, killed_after_write, killed_before_write, meddled


def final_batches(world: World, *held_and_consumed: tuple[int, int]) -> list[Row]:
    """Let there be final batches that hold and consumed so many parts; return their summaries."""
    held = sum(parts for parts, _ in held_and_consumed)
    world.table.update(Update(keys.account("acme"), "ADD #available :minus, #reserved :n", {"n": held, "minus": -held}))
    for number, (parts, consumed) in enumerate(held_and_consumed):
        values = {"final_at": iso(NOON), "held_parts": parts, "consumed": consumed, "reserved": parts, "released": 0}
        summarize(world.table, "renewals", f"{number:05}", NOON, **values)
    return batch_summaries(world.table, "renewals")


def balance(world: World) -> tuple[int, int, int]:
    account: Account = world.account()
    assert account.available + account.reserved + account.consumed == account.bought
    return account.available, account.reserved, account.consumed


def released(world: World) -> list[int]:
    return [row["released"] for row in batch_summaries(world.table, "renewals")]


def test_a_final_batch_is_charged_for_what_was_taken_and_gets_the_rest_back(world: World) -> None:
    summaries = final_batches(world, (10, 7))

    settle(world.table, "acme", summaries, NOON)

    assert balance(world) == (993, 0, 7)
    assert released(world) == [3]


def test_settling_twice_is_settling_once(world: World) -> None:
    summaries = final_batches(world, (10, 7), (5, 5))

    settle(world.table, "acme", summaries, NOON)
    settle(world.table, "acme", summaries, NOON)  # by another try, which read the same rows
    settle(world.table, "acme", batch_summaries(world.table, "renewals"), NOON)

    assert balance(world) == (988, 0, 12)
    assert released(world) == [3, 0]


def test_a_batch_that_is_not_final_is_not_settled(world: World) -> None:
    final_batches(world, (10, 7))
    summarize(world.table, "renewals", "00009", NOON, status="sent")

    settle(world.table, "acme", batch_summaries(world.table, "renewals"), NOON)

    assert balance(world) == (993, 0, 7)
    assert "settled_at" not in (world.table.get(keys.batch("renewals", "00009")) or {})


@pytest.mark.parametrize("count", [1, 98, 99, 100, 250])
def test_batches_are_settled_in_groups_of_as_many_as_a_transaction_takes(world: World, count: int) -> None:
    summaries = final_batches(world, *[(2, 1)] * count)
    world.calls.clear()

    settle(world.table, "acme", summaries, NOON)

    sizes = [len(call.keys) for call in world.calls]
    assert max(sizes) <= 100
    assert len(sizes) == -(-count // BATCHES_A_TRANSACTION)
    assert balance(world) == (1000 - count, 0, count)


def test_where_another_try_settled_some_only_the_others_are_settled(world: World) -> None:
    summaries = final_batches(world, (10, 7), (5, 5), (4, 0))

    table = meddled(world.table, "transact", lambda: settle(world.table, "acme", [summaries[1]], NOON))
    settle(table, "acme", summaries, NOON)

    assert balance(world) == (988, 0, 12)
    assert all("settled_at" in row for row in batch_summaries(world.table, "renewals"))


def test_a_row_that_met_a_conflict_beside_one_that_was_settled_is_settled_too(world: World) -> None:
    summaries = final_batches(world, (10, 7), (5, 5))
    settle(world.table, "acme", [summaries[0]], NOON)

    def refuse(method: str, actions: object) -> None:
        if method == "transact" and len(actions) == 3:  # type: ignore[arg-type]
            codes = ("ConditionalCheckFailed", "TransactionConflict", "None")
            raise TransactionRefused([Reason(code) for code in codes])

    settle(WatchedTable(world.table, before=refuse), "acme", summaries, NOON)

    assert balance(world) == (988, 0, 12)


@pytest.mark.parametrize("killed", [killed_before_write, killed_after_write])
@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_settling_killed_anywhere_goes_on_where_it_was(world: World, killed: object, write: int) -> None:
    summaries = final_batches(world, *[(2, 1)] * 250)
    with pytest.raises(Killed):
        settle(killed(world.table, write), "acme", summaries, NOON)  # type: ignore[operator]
    balance(world)  # closes after each step

    settle(world.table, "acme", batch_summaries(world.table, "renewals"), NOON)

    assert balance(world) == (750, 0, 250)


def test_a_batch_that_holds_nothing_is_settled_without_the_account(world: World) -> None:
    summaries = final_batches(world, (0, 0))
    world.calls.clear()

    settle(world.table, "acme", summaries, NOON)

    assert [access.sk for call in world.calls for access in call.keys] == ["BATCH#00000"]


def test_two_settlings_at_once_settle_once() -> None:
    with a_world(Latency(prepare=lambda: 0.010, commit=lambda: 0.010)) as world:
        world.has(an_account())
        summaries = final_batches(world, (10, 7), (5, 5))

        answers = world.together(
            *[lambda: settle(world.table, "acme", summaries, NOON) for _ in range(2)], apart_seconds=0.005
        )
        settle(world.table, "acme", batch_summaries(world.table, "renewals"), NOON)  # the retry of the conflict

        assert any(isinstance(answer, TransactionConflict) for answer in answers)
        assert balance(world) == (988, 0, 12)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(list(MessageStatus)), st.integers(1, 4), st.sampled_from(["", "SM1"]))))
def test_a_batch_is_charged_for_no_more_than_it_holds(messages: list[tuple[MessageStatus, int, str]]) -> None:
    of_batch = [
        a_message(status=status, parts=parts, provider_message_id=provider_id)
        for status, parts, provider_id in messages
    ]

    found = amounts(of_batch, Charging())

    assert 0 <= found["consumed"] <= found["held_parts"] <= sum(parts for _, parts, _ in messages)
